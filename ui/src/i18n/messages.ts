/** The two languages. `Messages` is the shape of the Spanish texts, so a text missing in English is a type error. */
import type { Language } from '../bindings/Language';
import { en } from './en';
import { es } from './es';

export type Messages = typeof es;

export const messages: Record<Language, Messages> = { es, en };
