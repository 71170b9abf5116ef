/** Text that people typed, inside a sentence of ours. */

const TURNS_DIRECTION = /[\u0590-\u08ff\ufb1d-\ufefc\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** A name written from right to left, or one that pretends to be, must not turn the sentence around it. */
export function isolated(text: string): string {
  if (!TURNS_DIRECTION.test(text)) return text;
  // A stray closing mark in the text would end the isolation early.
  return FIRST_STRONG_ISOLATE + text.replaceAll(POP_ISOLATE, '') + POP_ISOLATE;
}
