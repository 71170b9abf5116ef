/** What a tender is called: a wallet by its own name. */
import type { TenderShare } from '../bindings/TenderShare';
import type { Messages } from '../i18n/messages';

export function tenderName({ method, provider }: TenderShare, t: Messages): string {
  return provider === null ? t.tender.method[method] : t.tender.provider[provider];
}
