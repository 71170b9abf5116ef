/** The sales of the in-memory till, and how they are listed. */
import type { Money } from '../../bindings/Money';
import type { Offer } from '../../bindings/Offer';
import type { Problem } from '../../bindings/Problem';
import type { ProblemCode } from '../../bindings/ProblemCode';
import type { Review } from '../../bindings/Review';
import type { SaleContent } from '../../bindings/SaleContent';
import type { SalePage } from '../../bindings/SalePage';
import type { SaleSummary } from '../../bindings/SaleSummary';

/** Small, so that a test needs few sales to see a second page. */
const PAGE = 20;
/** Two sales of one seat within this time look alike. */
const WINDOW_S = 600;
const LIMA_MS = -5 * 3600 * 1000;

export type Sold = {
  summary: SaleSummary;
  readonly offer: Offer;
  /** YUPY has it, whether or not its answer arrived. */
  committedAtYupy: boolean;
  /** A manager said that it is another sale. */
  confirming: boolean;
  timer: ReturnType<typeof setTimeout> | null;
  readonly corrections: Correction[];
  given: GivenBack | null;
  discarded: Discarded | null;
};

/** What was given back for a sale. */
export type GivenBack = {
  returned: Money;
  at: string;
  asked_by: string;
  approved_by: string;
  reason: string;
};

/** Which question made it the same sale as another, and whose word that was. */
export type Discarded = { review: Review; by: string; at: string; reason: string };

export const canTakeBack = ({ summary }: Sold) =>
  summary.resolution === 'queued' || summary.resolution === 'decided_otherwise';

/** What a manager changed, when and why. */
export type Correction = { content: SaleContent; at: string; by: string; reason: string };

/** Now, or a moment from now, as the till writes times. */
export function stamp(inMs = 0): string {
  return `${new Date(Date.now() + inMs + LIMA_MS).toISOString().slice(0, 19)}-05:00`;
}

export function refusal(code: ProblemCode, detail: string | null = null): Problem & Error {
  return Object.assign(new Error(code), { code, detail });
}

export const isUnsettled = ({ state, resolution }: SaleSummary) =>
  resolution === 'queued' ||
  resolution === 'decided_otherwise' ||
  (state !== 'accepted' && state !== 'discarded' && state !== 'withdrawn');

export function page(sales: SaleSummary[], isAfter: (sale: SaleSummary) => boolean): SalePage {
  const rest = sales.filter(isAfter);
  const items = rest.slice(0, PAGE);
  return { items, next: rest.length > PAGE ? (items.at(-1)?.sequence ?? null) : null };
}

export function secondsApart(a: string, b: string): number {
  return Math.floor(Math.abs(Date.parse(a) - Date.parse(b)) / 1000);
}

/** Whether two sales of one seat are near enough in time to look alike. */
export const isWithinWindow = (a: string, b: string) => secondsApart(a, b) < WINDOW_S;
