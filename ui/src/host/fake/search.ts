/** How the in-memory till finds sales: close to what the real one finds, over few sales. */
import type { SaleSummary } from '../../bindings/SaleSummary';
import type { SearchSalesRequest } from '../../bindings/SearchSalesRequest';
import type { TenderMethod } from '../../bindings/TenderMethod';
import { stamp } from './sales';

const fold = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
const words = (text: string) =>
  fold(text)
    .split(/[^\p{L}\p{N}:]+/u)
    .filter((word) => word !== '');

/** Whether one typed word may mean this sale. */
function means(typed: string, sale: SaleSummary): boolean {
  const amount = /^(?:s\/\.?)?(\d+)(?:[.,](\d{0,2}))?$/.exec(typed);
  const minor = amount ? Number(amount[1]) * 100 + Number((amount[2] ?? '').padEnd(2, '0')) : null;
  if (minor === sale.amount.minor) return true;
  const [day, month] = /^(\d{1,2})\/(\d{1,2})/.exec(typed)?.slice(1) ?? [];
  const isDay =
    sale.occurred_at.slice(5, 10) === `${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
  if (isDay || (typed === 'hoy' && sale.occurred_at.slice(0, 10) === stamp().slice(0, 10))) return true;
  const id = fold(sale.external_transaction_id);
  if (id.endsWith(typed) || Number(typed) === sale.sequence) return true;
  const texts = [sale.description, sale.route ?? '', sale.buyer_name ?? '', sale.seat ?? ''].flatMap(words);
  return words(typed).every((piece) => texts.some((text) => text.startsWith(piece)));
}

function stands({ state, voided }: SaleSummary, standing: SearchSalesRequest['standing']): boolean {
  switch (standing) {
    case null:
      return true;
    case 'waiting':
      return state === 'queued' || state === 'sending' || state === 'on_hold';
    case 'confirmed':
      return state === 'accepted' && voided === null;
    case 'needs_attention':
      return state === 'in_review' || state === 'needs_attention';
    case 'voided':
      return voided !== null;
  }
}

function isWithin(
  { occurred_at, shift_id }: SaleSummary,
  period: SearchSalesRequest['period'],
  shift: string,
) {
  const day = occurred_at.slice(0, 10);
  if (period.kind === 'days') return period.from <= day && day <= period.to;
  return period.kind === 'always' || shift_id === shift;
}

/** Whether a sale is wanted, on a till where `paidIn` says how each was paid. */
export const isWanted =
  (request: SearchSalesRequest, shift: string, paidIn: (id: string) => TenderMethod[]) =>
  (sale: SaleSummary): boolean => {
    const { text, standing, tender, period } = request;
    const typed = fold(text)
      .replace(/s\/\.?\s+/g, 's/')
      .split(/\s+/)
      .filter((word) => /[\p{L}\p{N}]/u.test(word));
    return (
      typed.every((word) => means(word, sale)) &&
      stands(sale, standing) &&
      isWithin(sale, period, shift) &&
      (tender === null || paidIn(sale.external_transaction_id).includes(tender))
    );
  };
