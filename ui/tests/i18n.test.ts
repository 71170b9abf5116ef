import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'svelte/compiler';
import { describe, expect, test } from 'vitest';
import { messages } from '../src/i18n/messages';
import { SIGNALS } from '../src/shared/signals';

const { es, en } = messages;

type Tree = Record<string, unknown>;

/** Every text with its path; a function is called with arguments that show in what it makes. */
function texts(tree: unknown, path = ''): [string, string][] {
  if (typeof tree === 'string') return [[path, tree]];
  if (typeof tree === 'function') {
    const make = tree as (...given: number[]) => string;
    const made = make(...Array.from({ length: make.length }, (_, at) => at + 2));
    return [[path, made]];
  }
  return Object.entries(tree as Tree).flatMap(([key, value]) => texts(value, `${path}.${key}`));
}

test('both languages have the same texts', () => {
  const keys = (tree: unknown) => texts(tree).map(([path]) => path);
  expect(keys(en)).toEqual(keys(es));
});

test.each([
  ['es', es],
  ['en', en],
])('no text of %s is empty or unfinished', (_, tree) => {
  for (const [path, text] of texts(tree)) {
    expect(text.trim(), path).not.toBe('');
    expect(text, path).not.toMatch(/undefined|null|NaN|TODO|\[object/);
  }
});

test('what a sentence is given is in the sentence, in both languages', () => {
  const spanish = new Map(texts(es));
  for (const [path, text] of texts(en)) {
    const figures = (sentence: string) => [...sentence.matchAll(/\d+/g)].map(([figure]) => figure).sort();
    expect(figures(text), path).toEqual(figures(spanish.get(path) ?? ''));
  }
});

/** What the page's own files say, all in one. */
function pageSource(): string {
  const folder = join(import.meta.dirname, '../src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const ours = files.filter((file) => /\.(ts|svelte)$/.test(file) && !/^(i18n|bindings)/.test(file));
  return ours.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
}

test('every text of a view is shown somewhere', () => {
  const source = pageSource();
  // A group that is taken as a whole or asked with a code has its own rules; here are the texts that are named one by one.
  const named = Object.entries(es)
    .filter(([group, tree]) => typeof tree === 'object' && !new RegExp(`t\\.${group}\\b(?!\\.)`).test(source))
    .flatMap(([group, tree]) => Object.keys(tree).map((key) => `t.${group}.${key}`));
  const missing = named.filter((text) => !new RegExp(`${text.replaceAll('.', '\\.')}\\b`).test(source));
  expect(missing).toEqual([]);
});

/** The members of a union in a generated binding. */
function codesOf(binding: string): string[] {
  const source = readFileSync(join(import.meta.dirname, `../src/bindings/${binding}.ts`), 'utf8');
  const union = source.slice(source.indexOf('export type'));
  return [...union.matchAll(/"([a-z_]+)"/g)].map(([, code]) => code ?? '');
}

describe.each([
  ['ProblemCode', 'problem'],
  ['ConnectionState', 'connection'],
  ['SaleReason', 'saleReason'],
  ['SaleState', 'saleState'],
  ['Standing', 'standing'],
  ['Role', 'role'],
  ['PracticeLine', 'practiceLine'],
] as const)('every %s', (binding, key) => {
  test.each(codesOf(binding))('%s has its words in both languages', (code) => {
    expect(Object.keys(es[key])).toContain(code);
    expect(Object.keys(en[key])).toContain(code);
  });

  test('and no other has', () => {
    expect(Object.keys(es[key]).sort()).toEqual(codesOf(binding).sort());
  });
});

test('every signal of the contract has its words', () => {
  expect(Object.keys(es.signal)).toEqual([...SIGNALS]);
});

test('the three honest words are these', () => {
  expect(es.standing).toEqual({
    saved: 'Guardada aquí',
    unconfirmed: 'Sin confirmar',
    confirmed: 'Confirmada por YUPY',
  });
});

const components = readdirSync(join(import.meta.dirname, '../src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.svelte'))
  .map((name) => [name, readFileSync(join(import.meta.dirname, '../src', name), 'utf8')] as const);

test.each(components)('%s has no words of its own', (_, source) => {
  const words: string[] = [];
  // Names of keys are the same in every language.
  const allowed = /^(F\d|Esc)$/;
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (typeof node !== 'object' || node === null) return;
    const { type, data, name, value } = node as Record<string, unknown>;
    if (type === 'Text' && typeof data === 'string' && /\p{L}/u.test(data) && !allowed.test(data.trim()))
      words.push(data.trim());
    if (type === 'Attribute') {
      // Of the attributes only those that a person reads or hears.
      if (/^(aria-label|placeholder|title|alt)$/.test(String(name))) visit(value);
      return;
    }
    Object.values(node).forEach(visit);
  };
  visit(parse(source, { modern: true }).fragment);
  expect(words).toEqual([]);
});

test.each(components)('%s has nothing that a strict content policy blocks', (_, source) => {
  expect(source).not.toMatch(/\{@html/);
  expect(source).not.toMatch(/\sstyle(=|:)/);
  expect(source).not.toMatch(/\son[a-z]+="/);
});
