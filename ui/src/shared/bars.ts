/** A part of a whole, for a plot: what it is called, its figure in words, and how big it is beside the others. */
export type Bar = { name: string; figure: string; size: number; described: string };
