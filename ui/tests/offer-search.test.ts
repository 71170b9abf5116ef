import { expect, test, vi } from 'vitest';
import type { Offer } from '../src/bindings/Offer';
import { OfferSearch } from '../src/domain/offer-search.svelte';
import { openScene } from '../src/host/fake/scenes';

async function openSearch() {
  const host = await openScene('selling');
  const search = new OfferSearch(host);
  await search.refresh();
  return { host, search };
}

test('Enter on an empty field takes nothing', async () => {
  const { search } = await openSearch();
  expect(search.results.length).toBeGreaterThan(0);
  expect(await search.take()).toBeNull();
});

test('Enter takes the first that matches what was typed, and empties the field', async () => {
  const { search } = await openSearch();
  search.text = 'trujillo';
  expect((await search.take())?.name).toBe('Lima – Trujillo');
  expect(search.text).toBe('');
});

test('typing and Enter faster than the till answers takes what matches the whole text', async () => {
  const { host, search } = await openSearch();
  const answers: (() => void)[] = [];
  const real = host.searchOffers;
  vi.spyOn(host, 'searchOffers').mockImplementation(
    (request) => new Promise((resolve) => answers.push(() => void real(request).then(resolve))),
  );
  for (const text of ['l', 'li', 'lim', 'lima ica']) search.text = text;
  const taken = search.take();
  // The answers arrive in the wrong order.
  for (const answer of answers.toReversed()) answer();
  expect((await taken)?.name).toBe('Lima – Ica');
});

test('a second Enter while the first is waiting takes nothing', async () => {
  const { search } = await openSearch();
  search.text = 'equipaje';
  const [first, second] = await Promise.all([search.take(), search.take()]);
  expect(first?.offer_id).toBe('luggage');
  expect(second).toBeNull();
});

test('two scans faster than the till answers take both', async () => {
  const { search } = await openSearch();
  search.text = 'equipaje';
  const first = search.take();
  search.text = 'escolar';
  const second = search.take();
  expect((await first)?.offer_id).toBe('luggage');
  expect((await second)?.offer_id).toBe('urban-half');
  expect(search.text).toBe('');
});

test('what was typed while the till was answering stays', async () => {
  const { search } = await openSearch();
  search.text = 'equipaje';
  const first = search.take();
  search.text = 'esc';
  await first;
  expect(search.text).toBe('esc');
});

test('what matches nothing takes nothing', async () => {
  const { search } = await openSearch();
  search.text = 'zanzíbar';
  expect(await search.take()).toBeNull();
  expect(search.text).toBe('zanzíbar');
  await search.refresh();
  expect(search.results).toEqual([]);
});

test('the arrows stay inside the list', async () => {
  const { search } = await openSearch();
  search.move(-1);
  expect(search.active).toBe(0);
  for (let press = 0; press < 100; press += 1) search.move(1);
  expect(search.active).toBe(search.results.length - 1);
});

test('a list that changes under the arrows keeps pointing at the same offer', async () => {
  const { host, search } = await openSearch();
  search.move(1);
  search.move(1);
  const pointed = search.results[search.active] as Offer;
  const others = search.results.filter((offer) => offer.offer_id !== search.results[0]?.offer_id);
  vi.spyOn(host, 'searchOffers').mockResolvedValue(others);
  await search.refresh();
  expect(search.results[search.active]?.offer_id).toBe(pointed.offer_id);
});

test('a search that fails says why, keeps the text, and the next one works', async () => {
  const { host, search } = await openSearch();
  const broken = vi
    .spyOn(host, 'searchOffers')
    .mockRejectedValue({ code: 'not_unlocked', message: '', detail: null });
  search.text = 'lima ica';
  expect(await search.take()).toBeNull();
  await search.refresh();
  expect(search.problem?.code).toBe('not_unlocked');
  expect(search.text).toBe('lima ica');
  broken.mockRestore();
  await search.refresh();
  expect(search.problem).toBeNull();
  expect((await search.take())?.name).toBe('Lima – Ica');
});
