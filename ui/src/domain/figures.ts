/** A shift's report in words and bars. */
import type { Money } from '../bindings/Money';
import type { Share } from '../bindings/Share';
import type { Messages } from '../i18n/messages';
import type { Bar } from '../shared/bars';
import { formatMoney } from '../shared/money';

/** Routes that are shown one by one; the rest is one bar. A plot with forty bars says nothing. */
const ROUTES_SHOWN = 6;

function bar(share: Share, name: string, figure: string, t: Messages): Bar {
  const described = t.report.share(name, t.report.sales(share.count), formatMoney(share.amount));
  return { name, figure, size: share.amount.minor, described };
}

export function hourBars(hours: Share[], t: Messages): Bar[] {
  return hours.map((share) => ({
    ...bar(share, t.report.hour(share.label.padStart(2, '0')), '', t),
    name: share.label.padStart(2, '0'),
  }));
}

export function routeBars(routes: Share[], t: Messages): Bar[] {
  const rest = routes.slice(ROUTES_SHOWN);
  const first = rest[0];
  const shown = routes.slice(0, first && rest.length > 1 ? ROUTES_SHOWN : routes.length);
  const bars = shown.map((share) =>
    bar(share, share.label === '' ? t.report.noRoute : share.label, formatMoney(share.amount), t),
  );
  if (!first || rest.length === 1) return bars;
  const others: Share = {
    label: 'others',
    count: rest.reduce((sum, { count }) => sum + count, 0),
    amount: { ...first.amount, minor: rest.reduce((sum, { amount }) => sum + amount.minor, 0) },
  };
  return [...bars, bar(others, t.report.otherRoutes, formatMoney(others.amount), t)];
}

export function tenderBars(tenders: Share[], t: Messages): Bar[] {
  return tenders.map((share) =>
    bar(share, t.report.tender[share.label] ?? share.label, formatMoney(share.amount), t),
  );
}

/** `Cuadra`, or how much is missing or too much. */
export function differenceWords(difference: Money, t: Messages): string {
  if (difference.minor === 0) return t.report.exact;
  const size = formatMoney({ ...difference, minor: Math.abs(difference.minor) });
  return difference.minor < 0 ? t.report.missing(size) : t.report.surplus(size);
}
