import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const css = readFileSync(join(import.meta.dirname, '../src/app.css'), 'utf8');
const colours = new Map(
  [...css.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]),
);

function luminance(name: string): number {
  const hex = colours.get(name);
  if (!hex) throw new Error(`no colour --${name}`);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const tones = ['ok', 'wait', 'ask', 'bad', 'info'];

test.each([
  ...['paper', 'surface', 'surface-sunk'].flatMap((ground) => [
    ['ink', ground],
    ['ink-soft', ground],
  ]),
  ...tones.flatMap((tone) => [
    [tone, `${tone}-soft`],
    [tone, 'surface'],
    ['ink', `${tone}-soft`],
  ]),
  ['ink', 'accent-soft'],
  ['accent-ink', 'accent'],
  ['accent-ink', 'accent-strong'],
  ['bar-ink', 'bar'],
  ['bar-ink', 'bar-raised'],
  ['bar-soft', 'bar'],
  ['bar-soft', 'bar-raised'],
] as [string, string][])('text in %s on %s reaches AA', (text, ground) => {
  expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
});

test.each([
  ['line-strong', 'surface'],
  ['accent', 'surface'],
  ['focus', 'surface'],
  ['focus', 'paper'],
  ['focus', 'bar'],
] as [string, string][])('the edge of a control in %s on %s is visible', (edge, ground) => {
  expect(contrast(edge, ground)).toBeGreaterThanOrEqual(3);
});
