/** What two sales can have in common, in the order in which YUPY names it. */
export const SIGNALS = [
  'amount',
  'currency',
  'buyer_name',
  'shift_id',
  'device_id',
  'route',
  'seat',
  'order',
  'product',
  'service',
  'custom_reference_1',
  'custom_reference_2',
] as const;

export type Signal = (typeof SIGNALS)[number];
