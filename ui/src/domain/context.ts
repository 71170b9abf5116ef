/** What every component may ask for: the till, the clock, and the cashier's desk. */
import { createContext } from 'svelte';
import type { Clock } from './clock.svelte';
import type { Desk } from './desk.svelte';
import type { PrintQueue } from './print-queue.svelte';
import type { Till } from './till.svelte';

export const [useTill, provideTill] = createContext<Till>();
export const [useClock, provideClock] = createContext<Clock>();
export const [usePrintQueue, providePrintQueue] = createContext<PrintQueue>();
export const [useDesk, provideDesk] = createContext<Desk>();
