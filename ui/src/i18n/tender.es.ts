/** Con qué se paga. */
import type { TenderMethod } from '../bindings/TenderMethod';
import type { WalletProvider } from '../bindings/WalletProvider';

const method: Record<TenderMethod, string> = { cash: 'Efectivo', wallet: 'Billetera', card: 'Tarjeta' };
const provider: Record<WalletProvider, string> = { yape: 'Yape', plin: 'Plin', other: 'Otra' };

export const tender = {
  method,
  provider,
  payWith: 'Se paga con',
  restWith: 'El resto se paga con',
  paidWith: 'Pagado con',
  split: 'Dividir',
  wallet: 'Billetera',
  operation: 'N.º de operación',
  operationShort: 'op.',
  seen: 'Cobre solo si vio llegar el pago.',
  amount: 'Monto',
  remove: 'Quitar este pago',
  inCash: 'En efectivo',
  byWallet: 'Por billetera',
  typeOperation: 'Escriba el número de operación del pago que vio.',
  outsideDrawer: 'Lo de la billetera lo devuelve usted con el teléfono; del cajón sale solo el efectivo.',
};
