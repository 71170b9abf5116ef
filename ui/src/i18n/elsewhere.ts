/** What is said about questions of other tills and answers that were given elsewhere, in both languages. */
import type { Decision } from '../bindings/Decision';

export const elsewhereEs = {
  title: 'De otras cajas',
  refresh: 'Preguntar a YUPY',
  asking: 'Preguntando…',
  empty: 'Ninguna otra caja espera una decisión.',
  notGranted:
    'Esta caja no puede ver las preguntas de otras cajas. La oficina puede darle un código de encargado al conectarla.',
  asks: (device: string) => `Pregunta de la caja ${device}`,
  answered: {
    different_sale: 'Se respondió: es otra venta',
    same_sale: 'Se respondió: es la misma venta',
  } satisfies Record<Decision, string>,
  final:
    'La respuesta sale hacia YUPY en cuanto hay línea y la primera vale para todos: aquí no se puede deshacer.',
  otherwise: (who: string) => `${who} decidió antes otra cosa, y vale su decisión`,
  ended: 'la pregunta ya había terminado',
  decidedSame: (who: string, reason: string | null) =>
    `${who} decidió en otra caja que es la misma venta${reason ? ` («${reason}»)` : ''}. Falta el dinero: devuélvalo o diga que no se cobró.`,
};

export const elsewhereEn: typeof elsewhereEs = {
  title: 'Of other tills',
  refresh: 'Ask YUPY',
  asking: 'Asking…',
  empty: 'No other till waits for a decision.',
  notGranted:
    'This till may not see the questions of other tills. The office can give it a manager’s code when it is connected.',
  asks: (device) => `Question of till ${device}`,
  answered: {
    different_sale: 'Answered: it is another sale',
    same_sale: 'Answered: it is the same sale',
  },
  final:
    'The answer goes to YUPY as soon as there is a line, and the first one stands for all: it cannot be undone here.',
  otherwise: (who) => `${who} decided otherwise before, and their decision stands`,
  ended: 'the question had ended',
  decidedSame: (who, reason) =>
    `${who} decided on another till that it is the same sale${reason ? ` (“${reason}”)` : ''}. What is missing is the money: give it back, or say that it was not collected.`,
};
