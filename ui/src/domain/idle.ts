/** Locks a till that nobody touches. */
import type { Till } from './till.svelte';

/** A cashier turns away for a minute; who is gone for five left the drawer to whoever comes by. */
export const IDLE_LOCK_MS = 5 * 60 * 1000;
const LOOK_EVERY_MS = 5000;
const SIGNS_OF_LIFE = ['keydown', 'pointerdown', 'pointermove', 'wheel'] as const;

/** Watches the window; the answer stops it. The ticket stays on its seller's desk. */
export function lockWhenIdle(till: Till): () => void {
  // Not the wall clock: whoever sets it must not keep a till open.
  let touchedAt = performance.now();
  const touched = () => (touchedAt = performance.now());
  const timer = setInterval(() => {
    const isOpen = till.phase?.phase === 'selling' || till.phase?.phase === 'no_shift';
    if (!isOpen || performance.now() - touchedAt < IDLE_LOCK_MS) return;
    touched();
    void till.lock().catch(() => undefined);
  }, LOOK_EVERY_MS);
  for (const sign of SIGNS_OF_LIFE) window.addEventListener(sign, touched, { capture: true, passive: true });
  return () => {
    clearInterval(timer);
    for (const sign of SIGNS_OF_LIFE) window.removeEventListener(sign, touched, { capture: true });
  };
}
