/** What is paid with. */
import type { tender as es } from './tender.es';

export const tender: typeof es = {
  method: { cash: 'Cash', wallet: 'Wallet', card: 'Card' },
  provider: { yape: 'Yape', plin: 'Plin', other: 'Other' },
  payWith: 'Paid with',
  restWith: 'The rest is paid with',
  paidWith: 'Paid with',
  split: 'Split',
  wallet: 'Wallet',
  operation: 'Operation number',
  operationShort: 'op.',
  seen: 'Charge only if you saw the payment arrive.',
  amount: 'Amount',
  remove: 'Remove this payment',
  inCash: 'In cash',
  byWallet: 'By wallet',
  typeOperation: 'Type the operation number of the payment that you saw.',
  outsideDrawer: 'You return the wallet’s part with the telephone; only cash leaves the drawer.',
};
