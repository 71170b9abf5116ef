/** What is said where sales are looked for, in both languages. */
import type { SalesPeriod } from '../bindings/SalesPeriod';
import type { SalesStanding } from '../bindings/SalesStanding';

export const searchEs = {
  label: 'Buscar ventas',
  placeholder: 'Número, asiento, nombre, monto, fecha o ruta',
  standing: 'Estado',
  anyStanding: 'Todos los estados',
  standings: {
    waiting: 'Esperan a YUPY',
    confirmed: 'Confirmadas',
    needs_attention: 'Por revisar',
    voided: 'Anuladas',
  } satisfies Record<SalesStanding, string>,
  tender: 'Pago',
  anyTender: 'Todos los pagos',
  period: 'Periodo',
  periods: {
    always: 'Siempre',
    this_shift: 'Este turno',
    days: 'Días…',
  } satisfies Record<SalesPeriod['kind'], string>,
  from: 'Desde',
  to: 'Hasta',
  nothing: 'Ninguna venta coincide.',
  clear: 'Ver todas las ventas',
};

export const searchEn: typeof searchEs = {
  label: 'Search sales',
  placeholder: 'Number, seat, name, amount, date or route',
  standing: 'State',
  anyStanding: 'Every state',
  standings: {
    waiting: 'Waiting for YUPY',
    confirmed: 'Confirmed',
    needs_attention: 'To be looked at',
    voided: 'Voided',
  },
  tender: 'Payment',
  anyTender: 'Every payment',
  period: 'Period',
  periods: { always: 'Always', this_shift: 'This shift', days: 'Days…' },
  from: 'From',
  to: 'Until',
  nothing: 'No sale matches.',
  clear: 'See all sales',
};
