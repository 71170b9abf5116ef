/**
 * A sale's timeline in words, and as a text for support. Invariant: the text for support carries ids, times and
 * figures, and nothing that a person said or is called: no buyer, no seller, no reason.
 */
import type { SaleDetail } from '../bindings/SaleDetail';
import type { TimelineEntry } from '../bindings/TimelineEntry';
import type { Messages } from '../i18n/messages';
import { formatMoney } from '../shared/money';

export function happened(entry: TimelineEntry, t: Messages): string {
  const what = t.sale.happened[entry.happened];
  return entry.outcome ? `${what}: ${t.saleReason[entry.outcome]}` : what;
}

export function textForSupport(detail: SaleDetail, t: Messages): string {
  const { sale, checkout } = detail;
  const facts = [
    sale.external_transaction_id,
    `${t.review.fields.yupy_transaction_id} ${sale.yupy_transaction_id ?? '–'}`,
    `${t.sale.key} ${detail.idempotency_key}`,
    `${t.sale.revision} ${detail.revision}`,
    `${t.sales.amount} ${formatMoney(sale.amount)} · ${t.sell.due} ${formatMoney(checkout?.due ?? sale.amount)}`,
    `${t.saleState[sale.state]} · ${t.standing[sale.standing]} · ${t.sale.verdict[detail.verdict]}`,
  ];
  const events = detail.timeline.map((entry) => {
    const ids = [entry.status?.toString(), entry.request_id, entry.detail].filter(Boolean).join(' ');
    return `${entry.at}  ${happened(entry, t)}${ids === '' ? '' : ` [${ids}]`}`;
  });
  return [...facts, ...events].join('\n');
}
