/** What is taken off a price. */
import type { discount as es } from './discount.es';

export const discount: typeof es = {
  kinds: { percent: '%', amount: 'Amount' },
  button: 'Discount',
  key: 'Ctrl D',
  title: 'Discount on this line',
  kind: 'Given as',
  value: 'How much',
  reason: 'Reason',
  limit: 'You give up to 10 %; a manager approves more when it is charged.',
  apply: 'Apply',
  remove: 'Remove',
  approve: 'A manager approves the price',
  beyond: 'A discount of more than 10 %, or a price list that only a manager gives. Nothing was charged yet.',
  given: 'Discount',
  approvedBy: (name) => `approved by ${name}`,
  list: (price) => `list price ${price}`,
  total: 'Discounts given',
};
