/** The sign and the tone that go with each word about a sale or the connection; the word itself is in i18n. */
import type { ConnectionState } from '../bindings/ConnectionState';
import type { SaleState } from '../bindings/SaleState';
import type { Standing } from '../bindings/Standing';
import type { IconName } from '../shared/Icon.svelte';

export type Tone = 'ok' | 'info' | 'wait' | 'ask' | 'bad' | 'quiet';
export type MarkLook = { icon: IconName; tone: Tone };

export const standingLook: Record<Standing, MarkLook> = {
  saved: { icon: 'saved', tone: 'info' },
  unconfirmed: { icon: 'unsure', tone: 'wait' },
  confirmed: { icon: 'check', tone: 'ok' },
};

export const stateLook: Record<SaleState, MarkLook> = {
  queued: { icon: 'wait', tone: 'wait' },
  sending: { icon: 'send', tone: 'info' },
  accepted: { icon: 'check', tone: 'ok' },
  in_review: { icon: 'question', tone: 'ask' },
  needs_attention: { icon: 'warning', tone: 'bad' },
  on_hold: { icon: 'hold', tone: 'wait' },
  discarded: { icon: 'discard', tone: 'quiet' },
  withdrawn: { icon: 'discard', tone: 'quiet' },
};

export const connectionLook: Record<ConnectionState, MarkLook> = {
  unknown: { icon: 'unsure', tone: 'wait' },
  online: { icon: 'online', tone: 'ok' },
  no_network: { icon: 'offline', tone: 'wait' },
  no_name_resolution: { icon: 'offline', tone: 'wait' },
  portal: { icon: 'lock', tone: 'wait' },
  certificate_or_clock: { icon: 'warning', tone: 'bad' },
  unreachable: { icon: 'offline', tone: 'wait' },
  credential_refused: { icon: 'warning', tone: 'bad' },
  wrong_address: { icon: 'warning', tone: 'bad' },
  paused: { icon: 'hold', tone: 'wait' },
};
