/**
 * Something that is read from the till and read again whenever the till hints at a change. One read is under way
 * at a time; hints that arrive meanwhile make exactly one more, so the last word always wins and a burst of hints
 * costs two reads.
 */
import type { Problem } from '../bindings/Problem';
import { toProblem } from './problem';

export class Live<T> {
  readonly #read: () => Promise<T>;
  #value = $state.raw<T | null>(null);
  #problem = $state.raw<Problem | null>(null);
  #running: Promise<void> | null = null;
  #again = false;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** What was read last; null until the first read came back. */
  get value(): T | null {
    return this.#value;
  }

  /** Why the last read failed; the value of the read before stays. */
  get problem(): Problem | null {
    return this.#problem;
  }

  /** Resolves when a read that began after this call is shown. */
  refresh(): Promise<void> {
    if (this.#running) {
      this.#again = true;
      return this.#running;
    }
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    do {
      this.#again = false;
      try {
        this.#value = await this.#read();
        this.#problem = null;
      } catch (thrown) {
        this.#problem = toProblem(thrown);
      }
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- set by a hint during the read
    } while (this.#again);
  }
}
