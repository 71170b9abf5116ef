import { expect, test } from 'vitest';
import { isolated } from '../src/shared/text';

test('plain text is left alone', () => {
  expect(isolated('María Ñahui 12A')).toBe('María Ñahui 12A');
});

test('text that turns the direction stays within its own bounds', () => {
  expect(isolated('محمد')).toBe('\u2068محمد\u2069');
  expect(isolated('\u202eevil')).toBe('\u2068\u202eevil\u2069');
  expect(isolated('\u202ea\u2069b')).toBe('\u2068\u202eab\u2069');
});
