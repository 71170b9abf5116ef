/** A believable catalog for the in-memory till: intercity departures with seats and price lists, an urban line, products. */
import type { Offer } from '../../bindings/Offer';
import { soles } from './amounts';

/** Rows from the front of the bus; null is the aisle. */
export type Layout = { number: number; rows: (string | null)[][] }[];

type Departure = {
  route: string;
  name: string;
  hour: string;
  service: string;
  price: number;
  layout: Layout;
  lists?: { list: string; name: string; price: number }[];
};

/** At these no cashier sells alone. */
const LISTS_FOR_MANAGERS = ['estudiante'];

const letters = (row: number, places: (string | null)[]) =>
  places.map((letter) => (letter === null ? null : `${row}${letter}`));
const rowsOf = (first: number, last: number, places: (string | null)[]) =>
  Array.from({ length: last - first + 1 }, (_, at) => letters(first + at, places));

const TWO_DECKS: Layout = [
  { number: 1, rows: rowsOf(1, 4, ['A', null, 'B', 'C']) },
  { number: 2, rows: rowsOf(5, 16, ['A', 'B', null, 'C', 'D']) },
];
const ONE_DECK: Layout = [{ number: 1, rows: rowsOf(1, 11, ['A', 'B', null, 'C', 'D']) }];

const DEPARTURES: Departure[] = [
  {
    route: '184',
    name: 'Lima – Arequipa',
    hour: '18:30',
    service: 'Cama 160° · bus 412',
    price: 12000,
    layout: TWO_DECKS,
  },
  {
    route: '184',
    name: 'Lima – Arequipa',
    hour: '20:30',
    service: 'Semicama 140° · bus 418',
    price: 8550,
    layout: TWO_DECKS,
  },
  {
    route: '201',
    name: 'Lima – Trujillo',
    hour: '21:45',
    service: 'Semicama 140° · bus 305',
    price: 6500,
    layout: TWO_DECKS,
  },
  {
    route: '201',
    name: 'Lima – Trujillo',
    hour: '22:30',
    service: 'Cama 160° · bus 309',
    price: 9500,
    layout: TWO_DECKS,
  },
  {
    route: '330',
    name: 'Lima – Huancayo',
    hour: '13:15',
    service: 'Semicama 140° · bus 221',
    price: 4500,
    layout: ONE_DECK,
    lists: [
      { list: 'nino', name: 'Niño', price: 3000 },
      { list: 'estudiante', name: 'Estudiante', price: 2250 },
    ],
  },
  {
    route: '412',
    name: 'Arequipa – Cusco',
    hour: '20:00',
    service: 'Cama 160° · bus 377',
    price: 7096,
    layout: TWO_DECKS,
  },
  {
    route: '055',
    name: 'Lima – Ica',
    hour: '11:30',
    service: 'Económico · bus 118',
    price: 3000,
    layout: ONE_DECK,
  },
];

const simple = (
  kind: 'fare' | 'product',
  offer_id: string,
  name: string,
  detail: string,
  minor: number,
  route: string | null,
  barcode: string | null = null,
): Offer => ({
  offer_id,
  kind,
  name,
  detail,
  route,
  departs_at: null,
  price: soles(minor),
  seats_free: null,
  barcode,
});

export const LAYOUTS: ReadonlyMap<string, Layout> = new Map(
  DEPARTURES.flatMap((departure) => idsOf(departure).map((id) => [id, departure.layout])),
);

function idOf({ route, hour }: Departure): string {
  return `${route}-${hour.replace(':', '')}`;
}

function idsOf(departure: Departure): string[] {
  const id = idOf(departure);
  return [id, ...(departure.lists ?? []).map(({ list }) => `listed:${list}:${id}`)];
}

/** Whose seats an offer sells: a departure's, at whatever price. */
export const seatsOf = (offerId: string) => offerId.replace(/^listed:[^:]*:/, '');

export const needsManager = (offerId: string) =>
  LISTS_FOR_MANAGERS.some((list) => offerId.startsWith(`listed:${list}:`));

/** The offers of a day, `day` being its date as `2026-11-30`. */
export function offersOf(day: string): Offer[] {
  return [
    ...DEPARTURES.flatMap((departure) => {
      const full: Offer = {
        offer_id: idOf(departure),
        kind: 'departure',
        name: departure.name,
        detail: `${departure.hour} · ${departure.service}`,
        route: departure.route,
        departs_at: `${day}T${departure.hour}:00-05:00`,
        price: soles(departure.price),
        seats_free: departure.layout.flatMap((deck) => deck.rows.flat()).filter((seat) => seat !== null)
          .length,
        barcode: null,
      };
      const listed = (departure.lists ?? []).map(({ list, name, price }) => ({
        ...full,
        offer_id: `listed:${list}:${full.offer_id}`,
        name: `${name} · ${full.name}`,
        price: soles(price),
      }));
      return [full, ...listed];
    }),
    simple('fare', 'urban-adult', 'Línea 7 · Adulto', 'Urbano · tramo completo', 250, '7'),
    simple('fare', 'urban-half', 'Línea 7 · Escolar', 'Urbano · medio pasaje', 120, '7'),
    simple('product', 'luggage', 'Equipaje extra', 'Por bulto, hasta 20 kg', 1500, null, '7750182000017'),
    simple(
      'product',
      'parcel-s',
      'Encomienda pequeña',
      'Sobre o caja hasta 2 kg',
      1200,
      null,
      '7750182000024',
    ),
    simple('product', 'parcel-l', 'Encomienda grande', 'Caja hasta 15 kg', 3590, null, '7750182000031'),
  ];
}

const wordsOf = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

/** Every word of the text begins some word of the offer, accents aside. */
function matches(offer: Offer, text: string): boolean {
  const offered = wordsOf(`${offer.name} ${offer.detail} ${offer.route ?? ''}`);
  return wordsOf(text).every((wanted) => offered.some((word) => word.startsWith(wanted)));
}

/** What typing finds; a whole barcode finds what it is on and nothing else. */
export function searched(offers: Offer[], text: string): Offer[] {
  const scanned = offers.find(({ barcode }) => barcode !== null && barcode === text.trim());
  return scanned ? [scanned] : offers.filter((offer) => matches(offer, text));
}
