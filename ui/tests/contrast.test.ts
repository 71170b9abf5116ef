import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Theme } from '../src/bindings/Theme';

const css = readFileSync(join(import.meta.dirname, '../src/app.css'), 'utf8');
/** Each theme's colours: what it does not name is as in the first. */
const themes = new Map<string, Map<string, string>>();
for (const [, selector = '', body = ''] of css.matchAll(/^(:root|\[data-theme='[a-z_]+'\]) \{([^}]*)\}/gm)) {
  const own = [...body.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const name = /'(.*)'/.exec(selector)?.[1] ?? 'light';
  themes.set(name, new Map([...(themes.get('light') ?? []), ...own]));
}

test('there is a set of colours for each theme', () => {
  const chosen: Record<Theme, true> = { light: true, dark: true, high_contrast: true };
  expect([...themes.keys()].toSorted()).toEqual(Object.keys(chosen).toSorted());
  const [first = [], ...others] = [...themes.values()].map((colours) => [...colours.keys()].toSorted());
  for (const names of others) expect(names).toEqual(first);
});

function luminance(theme: string, name: string): number {
  const hex = themes.get(theme)?.get(name);
  if (!hex) throw new Error(`no colour --${name} in ${theme}`);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(theme: string, a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(theme, a), luminance(theme, b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const tones = ['ok', 'wait', 'ask', 'bad', 'info'];

const texts: [string, string][] = [
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
] as [string, string][];

const edges: [string, string][] = [
  ['line-strong', 'surface'],
  ['accent', 'surface'],
  ['focus', 'surface'],
  ['focus', 'paper'],
  ['focus', 'bar'],
];

describe.each([...themes.keys()])('%s', (theme) => {
  /** AAA where somebody asked for contrast. */
  const wanted = theme === 'high_contrast' ? 7 : 4.5;

  test.each(texts)('text in %s on %s can be read', (text, ground) => {
    expect(contrast(theme, text, ground)).toBeGreaterThanOrEqual(wanted);
  });

  test.each(edges)('the edge of a control in %s on %s is visible', (edge, ground) => {
    expect(contrast(theme, edge, ground)).toBeGreaterThanOrEqual(3);
  });
});
