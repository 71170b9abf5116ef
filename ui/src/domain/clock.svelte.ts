/** The time for countdowns and ages, ticking once a second while something on the screen looks at it. */
import { createSubscriber } from 'svelte/reactivity';

const TICK_MS = 1000;

export class Clock {
  readonly #subscribe = createSubscriber((update) => {
    const timer = setInterval(update, TICK_MS);
    return () => clearInterval(timer);
  });

  /** Milliseconds since the epoch. */
  get nowMs(): number {
    this.#subscribe();
    return Date.now();
  }
}
