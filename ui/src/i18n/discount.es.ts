/** Lo que se quita de un precio. */
import type { DiscountKind } from '../bindings/DiscountKind';

const kinds: Record<DiscountKind, string> = { percent: '%', amount: 'Monto' };

export const discount = {
  kinds,
  button: 'Descuento',
  key: 'Ctrl D',
  title: 'Descuento de esta línea',
  kind: 'En qué se da',
  value: 'Cuánto',
  reason: 'Motivo',
  limit: 'Hasta el 10 % lo da usted; más lo aprueba un encargado al cobrar.',
  apply: 'Aplicar',
  remove: 'Quitar',
  approve: 'Un encargado aprueba el precio',
  beyond: 'Un descuento de más del 10 %, o una tarifa que solo da un encargado. Todavía no se cobró nada.',
  given: 'Descuento',
  approvedBy: (name: string) => `aprobó ${name}`,
  list: (price: string) => `precio de lista ${price}`,
  total: 'Descuentos dados',
};
