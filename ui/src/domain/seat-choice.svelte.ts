/**
 * Choosing a seat of one departure: a seat map, a cursor that the arrows move, and a label that can be typed.
 * Enter takes the typed seat, else the one under the cursor, else nothing.
 */
import type { Offer } from '../bindings/Offer';
import type { Problem } from '../bindings/Problem';
import type { Seat } from '../bindings/Seat';
import type { SeatMap } from '../bindings/SeatMap';
import type { Host } from '../host/host';
import { ownProblem, toProblem } from './problem';

/** Where a seat is: `row` counts from the front, `column` from the left side of the bus. */
export type SeatPlace = { deck: number; row: number; column: number };
export type SeatMove = 'forward' | 'back' | 'left' | 'right';

export class SeatChoice {
  readonly offer: Offer;
  readonly #host: Host;
  #map = $state.raw<SeatMap | null>(null);
  #typed = $state('');
  #cursor = $state.raw<SeatPlace | null>(null);
  #problem = $state.raw<Problem | null>(null);
  #loading: Promise<void> = Promise.resolve();
  #taking = false;

  constructor(host: Host, offer: Offer) {
    this.#host = host;
    this.offer = offer;
    void this.refresh();
  }

  get map(): SeatMap | null {
    return this.#map;
  }
  get problem(): Problem | null {
    return this.#problem;
  }
  get cursor(): SeatPlace | null {
    return this.#cursor;
  }
  /** The seat under the cursor. */
  get pointed(): Seat | null {
    return this.#cursor && this.#at(this.#cursor);
  }
  get typed(): string {
    return this.#typed;
  }
  set typed(typed: string) {
    this.#typed = typed;
    this.#problem = null;
    this.#cursor = this.#find(typed) ?? (typed.trim() === '' ? this.#cursor : null);
  }

  refresh(): Promise<void> {
    this.#loading = this.#load();
    return this.#loading;
  }

  move(to: SeatMove): void {
    const decks = this.#map?.decks ?? [];
    if (!this.#cursor) {
      this.#cursor = firstPlace(decks.map((deck) => deck.rows));
      return;
    }
    const { deck, row, column } = this.#cursor;
    const rows = decks[deck]?.rows ?? [];
    if (to === 'forward' || to === 'back') {
      const step = to === 'back' ? 1 : -1;
      for (let next = row + step; next >= 0 && next < rows.length; next += step) {
        const nearest = nearestColumn(rows[next] ?? [], column);
        if (nearest !== null) {
          this.#cursor = { deck, row: next, column: nearest };
          return;
        }
      }
      return;
    }
    const step = to === 'right' ? 1 : -1;
    const places = rows[row] ?? [];
    for (let next = column + step; next >= 0 && next < places.length; next += step) {
      if (places[next]) {
        this.#cursor = { deck, row, column: next };
        return;
      }
    }
    this.#changeDeck(to);
  }

  /** What Enter takes, once the map is there. An unknown label is said, and kept for correction. */
  async take(): Promise<Seat | null> {
    if (this.#taking) return null;
    this.#taking = true;
    try {
      await this.#loading;
      const typed = this.#typed.trim();
      if (typed !== '') {
        const place = this.#find(typed);
        const seat = place && this.#at(place);
        if (!seat) this.#problem = ownProblem('seat_unknown', typed);
        else this.#typed = '';
        return seat;
      }
      if (!this.pointed) this.#problem = ownProblem('seat_required');
      return this.pointed;
    } finally {
      this.#taking = false;
    }
  }

  async #load(): Promise<void> {
    try {
      const map = await this.#host.seatMap({ offer_id: this.offer.offer_id });
      this.#map = { ...map, decks: map.decks.toSorted((a, b) => a.number - b.number) };
      if (this.#typed !== '') this.#cursor = this.#find(this.#typed);
    } catch (thrown) {
      this.#problem = toProblem(thrown);
    }
  }

  #at(place: SeatPlace): Seat | null {
    return this.#map?.decks[place.deck]?.rows[place.row]?.[place.column] ?? null;
  }

  #find(typed: string): SeatPlace | null {
    const wanted = typed.trim().toLocaleUpperCase('es');
    if (wanted === '') return null;
    for (const [deck, { rows }] of (this.#map?.decks ?? []).entries())
      for (const [row, places] of rows.entries())
        for (const [column, seat] of places.entries())
          if (seat?.seat.toLocaleUpperCase('es') === wanted) return { deck, row, column };
    return null;
  }

  /** The decks lie one above the other, the upper one on top: past the right side of a deck is the next one up. */
  #changeDeck(to: 'left' | 'right'): void {
    if (!this.#cursor) return;
    const deck = this.#cursor.deck + (to === 'right' ? 1 : -1);
    const rows = this.#map?.decks[deck]?.rows;
    if (!rows || rows.length === 0) return;
    const row = Math.min(this.#cursor.row, rows.length - 1);
    const column = nearestColumn(rows[row] ?? [], to === 'right' ? 0 : Number.MAX_SAFE_INTEGER);
    if (column !== null) this.#cursor = { deck, row, column };
  }
}

function nearestColumn(places: (Seat | null)[], column: number): number | null {
  let nearest: number | null = null;
  for (const [at, seat] of places.entries())
    if (seat && (nearest === null || Math.abs(at - column) < Math.abs(nearest - column))) nearest = at;
  return nearest;
}

function firstPlace(decks: (Seat | null)[][][]): SeatPlace | null {
  for (const [deck, rows] of decks.entries())
    for (const [row, places] of rows.entries())
      for (const [column, seat] of places.entries()) if (seat) return { deck, row, column };
  return null;
}
