import { expect, test } from 'vitest';
import { formatMoney, isImplausibleChange, quickNotes, typedAmount } from '../src/shared/money';

const soles = (minor: number) => ({ minor, currency: 'PEN' });

test.each([
  [soles(8550), 'S/ 85.50'],
  [soles(5), 'S/ 0.05'],
  [soles(0), 'S/ 0.00'],
  [soles(100000), 'S/ 1,000.00'],
  [soles(999999999), 'S/ 9,999,999.99'],
  [soles(-250), '−S/ 2.50'],
  [{ minor: 1500, currency: 'CLP' }, 'CLP 1,500'],
  [{ minor: 1500, currency: 'KWD' }, 'KWD 1.500'],
  [{ minor: 1234, currency: 'USD' }, 'US$ 12.34'],
])('%j is written %s', (money, text) => {
  expect(formatMoney(money)).toBe(text);
});

test('an amount that no float holds exactly keeps every céntimo', () => {
  expect(formatMoney(soles(9007199254740991))).toBe('S/ 90,071,992,547,409.91');
});

test('an amount to type has no symbol and no grouping', () => {
  expect(typedAmount(soles(123456))).toBe('1234.56');
});

test.each([
  [8550, [9000, 10000, 20000]],
  [250, [1000, 2000, 5000]],
  [9000, [10000, 20000]],
  [25000, [26000, 30000, 40000]],
  [20000, []],
])('for %i céntimos due the notes offered are %j', (due, notes) => {
  expect(quickNotes(soles(due)).map((note) => note.minor)).toEqual(notes);
});

test('a currency whose notes are not known offers none', () => {
  expect(quickNotes({ minor: 1250, currency: 'USD' })).toEqual([]);
});

test('change of the biggest note or more is a slip of the finger', () => {
  expect(isImplausibleChange(soles(19999))).toBe(false);
  expect(isImplausibleChange(soles(20000))).toBe(true);
  expect(isImplausibleChange({ minor: 20000, currency: 'USD' })).toBe(false);
});
