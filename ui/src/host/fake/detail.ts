/** A sale of the in-memory till with everything that is known of it. */
import type { Happening } from '../../bindings/Happening';
import type { Money } from '../../bindings/Money';
import type { ProblemCode } from '../../bindings/ProblemCode';
import type { SaleContent } from '../../bindings/SaleContent';
import type { SaleDiscount } from '../../bindings/SaleDiscount';
import type { SaleDetail } from '../../bindings/SaleDetail';
import type { SaleResolution } from '../../bindings/SaleResolution';
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SaleVerdict } from '../../bindings/SaleVerdict';
import type { TenderShare } from '../../bindings/TenderShare';
import type { TimelineEntry } from '../../bindings/TimelineEntry';
import { soles } from './amounts';
import { canTakeBack, type Sold } from './sales';

export const correctable = ({ state, reason }: SaleSummary) =>
  state === 'needs_attention' && (reason === 'validation_failed' || reason === 'refused');

/** `tenders`: how its ticket was paid, as far as anybody remembers. */
export function detailOf(
  sold: Sold,
  tenders: TenderShare[] | null,
  discount: SaleDiscount | null,
): SaleDetail {
  const { summary, corrections, offer, given } = sold;
  const paidIn = tenders ?? [inCash(soles(summary.amount.minor - (summary.amount.minor % 10)))];
  const due = soles(paidIn.reduce((sum, { amount }) => sum + amount.minor, 0));
  // One sale a checkout is near enough here.
  const rounding = paidIn.some(({ method }) => method === 'cash') ? summary.amount.minor % 10 : 0;
  const paid = soles(summary.amount.minor - rounding);
  const refused = notVoidable(sold);
  const first: SaleContent = {
    buyer_name: summary.buyer_name,
    route: summary.route,
    seat: summary.seat,
    service: null,
    product: offer.name,
    order: null,
    custom_reference_1: null,
    custom_reference_2: null,
  };
  return {
    sale: summary,
    verdict: summary.voided === null ? verdict(summary) : 'voided',
    void:
      given && summary.voided
        ? {
            progress: summary.voided,
            returned: given.returned,
            parts: paidIn,
            voided_at: given.at,
            shift_id: summary.shift_id,
            asked_by: given.asked_by,
            approved_by: given.approved_by,
            reason: given.reason,
            operation_id: 'f0e1',
            detail: null,
          }
        : null,
    resolution: resolution(sold),
    void_offer: { returned: paid, parts: paidIn, limit: soles(100_000), refused },
    quantity: Math.max(1, Math.round(summary.amount.minor / offer.price.minor)),
    checkout: {
      draft_id: 'draft',
      payment_method: paidIn.length > 1 ? 'split' : (paidIn[0]?.method ?? 'cash'),
      sales_count: 1,
      total: summary.amount,
      rounding: soles(rounding),
      due,
      received: due,
      change: soles(0),
      tenders: paidIn,
    },
    discount,
    sold: first,
    content: corrections.at(-1)?.content ?? first,
    revision: corrections.length,
    idempotency_key: '5f0c1f5e-8a70-8d3c-9a53-0c6f1c5d2b11',
    timeline: timeline(sold),
    attempts_left_out: 0,
  };
}

function resolution(sold: Sold): SaleResolution | null {
  const { discarded, summary } = sold;
  if (!discarded || !summary.resolution) return null;
  return {
    progress: summary.resolution,
    decision: 'same_sale',
    decided_by: discarded.by,
    decided_at: discarded.at,
    reason: discarded.reason,
    detail: summary.resolution === 'decided_otherwise' ? 'Rosa' : null,
    take_back_refused: canTakeBack(sold) ? null : 'take_back_too_late',
  };
}
const inCash = (amount: Money): TenderShare => ({
  method: 'cash',
  provider: null,
  operation_number: null,
  amount,
});

function notVoidable({ summary, given }: Sold): ProblemCode | null {
  if (given) return 'already_voided';
  if (summary.state === 'in_review') return 'void_awaits_decision';
  return summary.state === 'discarded' ? 'void_not_possible' : null;
}

function verdict({ state, standing, reason, resolution: told }: SaleSummary): SaleVerdict {
  if (told === 'decided_otherwise') return 'discard_disputed';
  switch (state) {
    case 'accepted':
      return 'counts';
    case 'withdrawn':
      return 'voided';
    case 'discarded':
      return 'does_not_count';
    case 'in_review':
      return 'awaits_decision';
    case 'needs_attention':
      return reason === 'validation_failed' || reason === 'refused' ? 'awaits_correction' : 'awaits_support';
    case 'queued':
    case 'sending':
    case 'on_hold':
      return standing === 'unconfirmed' ? 'unconfirmed' : 'on_its_way';
  }
}

function timeline({ summary, corrections, given }: Sold): TimelineEntry[] {
  const at = (time: string, happened: Happening, more: Partial<TimelineEntry> = {}): TimelineEntry => ({
    at: time,
    happened,
    person: null,
    reason: null,
    outcome: null,
    detail: null,
    status: null,
    request_id: null,
    ...more,
  });
  const entries = [at(summary.occurred_at, 'recorded', { person: summary.seller })];
  if (summary.attempts > 0 && summary.reason !== null)
    entries.push(at(summary.occurred_at, 'attempt_ended', { outcome: summary.reason, status: 422 }));
  for (const { at: time, by, reason } of corrections)
    entries.push(at(time, 'corrected', { person: by, reason, detail: 'buyer_name' }));
  if (summary.state === 'accepted') entries.push(at(summary.occurred_at, 'accepted'));
  if (given) entries.push(at(given.at, 'voided', { person: given.approved_by, reason: given.reason }));
  return entries;
}
