/** Amounts of the in-memory till, as whole céntimos. */
import type { Money } from '../../bindings/Money';

export const soles = (minor: number): Money => ({ minor, currency: 'PEN' });

/** `100`, `85.5`, `85,50`, `.5` → céntimos; null for anything else. */
export function parseTyped(text: string): number | null {
  const match = /^(\d{0,7})(?:[.,](\d{1,2}))?$/.exec(text.trim());
  const [, whole = '', fraction = ''] = match ?? [];
  if (!match || (whole === '' && fraction === '')) return null;
  return Number(whole || '0') * 100 + Number(fraction.padEnd(2, '0'));
}

/** Cash rounds down to ten céntimos, on the total. */
export const cashDue = (totalMinor: number): number => totalMinor - (totalMinor % 10);
