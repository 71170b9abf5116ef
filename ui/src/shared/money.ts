/**
 * The one place that writes amounts. They arrive as whole minor units and are only ever cut into digits:
 * no division, no float, no rounding on this side of the till.
 */
import type { Money } from '../bindings/Money';

const SYMBOLS: Record<string, string> = { PEN: 'S/', USD: 'US$' };

/** ISO 4217 scale, from the browser's own table. */
function decimalsOf(currency: string): number {
  try {
    return (
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ??
      2
    );
  } catch {
    // Not a currency at all: the till never sends one, and an amount must still be shown.
    return 2;
  }
}

/** `{minor: 123456, currency: 'PEN'}` → `S/ 1,234.56`. */
export function formatMoney(money: Money): string {
  const sign = money.minor < 0 ? '−' : '';
  return `${sign}${SYMBOLS[money.currency] ?? money.currency} ${figures(money)}`;
}

/** The figure as a person would type it, without symbol or grouping: `85.50`. */
export function typedAmount(money: Money): string {
  return figures(money, '');
}

function figures(money: Money, separator = ','): string {
  const decimals = decimalsOf(money.currency);
  const digits = String(Math.abs(money.minor)).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals);
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, separator);
  return decimals === 0 ? grouped : `${grouped}.${fraction}`;
}

/** Notes that people pay with, in minor units, smallest first. */
const NOTES_MINOR: Record<string, readonly number[]> = { PEN: [1000, 2000, 5000, 10000, 20000] };

/** Up to `most` amounts that a customer is likely to hand over: what is due, rounded up to whole notes. */
export function quickNotes(due: Money, most = 3): Money[] {
  const roundedUp = (NOTES_MINOR[due.currency] ?? [])
    .filter((note) => due.minor % note !== 0)
    .map((note) => due.minor - (due.minor % note) + note);
  return [...new Set(roundedUp)].slice(0, most).map((minor) => ({ minor, currency: due.currency }));
}

/**
 * Whether so much change means a slip of the finger, or a scanner that typed into the field: nobody gets back
 * more than the biggest note.
 */
export function isImplausibleChange(change: Money): boolean {
  const biggest = NOTES_MINOR[change.currency]?.at(-1);
  return biggest !== undefined && change.minor >= biggest;
}
