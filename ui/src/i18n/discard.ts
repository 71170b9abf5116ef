/** What is said about a decision on its way to YUPY, in both languages. */
import type { ResolutionProgress } from '../bindings/ResolutionProgress';

type Words = {
  mark: Record<ResolutionProgress, string>;
  sentence: Record<ResolutionProgress, (detail: string | null) => string>;
};

export const discardEs = {
  mark: {
    queued: 'Falta avisar',
    sending: 'Avisando a YUPY',
    told: 'YUPY lo sabe',
    closed: 'Cerrada',
    decided_otherwise: 'Otra decisión',
    sale_exists: 'Está en YUPY',
    refused: 'YUPY no lo aceptó',
    acknowledged: 'Vista',
    taken_back: 'Deshecha',
  },
  sentence: {
    queued: () => 'Se descartó aquí. Se avisa a YUPY sola; hasta entonces un encargado puede deshacerlo.',
    sending: () => 'Se descartó aquí. Se está avisando a YUPY.',
    told: () => 'YUPY sabe que es la misma venta.',
    closed: () => 'La pregunta de YUPY terminó antes de recibir el aviso. No hay nada más que hacer.',
    decided_otherwise: (who) =>
      `${who ?? 'Otra persona'} decidió antes que es otra venta, y en YUPY vale la primera decisión. Nadie creó la venta: un encargado debe deshacer el descarte o dejarlo.`,
    sale_exists: () =>
      'YUPY tiene esta venta como otra. Un encargado debe deshacer el descarte o dejarlo y avisar a la oficina.',
    refused: () => 'YUPY no aceptó el aviso. Un encargado debe deshacer el descarte o dejarlo.',
    acknowledged: () => 'Un encargado vio que YUPY dice otra cosa y la dejó descartada.',
    taken_back: () => 'Se deshizo antes de avisar a YUPY.',
  },
  title: 'Se descartó',
  takeBack: 'Deshacer el descarte',
  takeBackLead:
    'La venta vuelve a Revisar, con la misma pregunta. Si devolvió el dinero, cóbrelo otra vez: la venta vuelve a contar.',
  takeBackConfirm: 'Deshacer',
  takeBackReasons: [
    'Eran dos pasajeros',
    'Me equivoqué de respuesta',
    'Otra persona decidió que es otra venta',
  ],
  leave: 'Dejarla descartada',
  leaveLead: 'La venta sigue descartada aquí. Queda anotado quién lo vio y por qué.',
  leaveConfirm: 'Dejarla así',
  leaveReasons: ['Se avisó a la oficina', 'Es la misma venta: lo comprobé'],
  see: 'Ver o deshacer',
} satisfies Words & Record<string, unknown>;

export const discardEn: typeof discardEs = {
  mark: {
    queued: 'To be told',
    sending: 'Telling YUPY',
    told: 'YUPY knows',
    closed: 'Closed',
    decided_otherwise: 'Other decision',
    sale_exists: 'At YUPY',
    refused: 'YUPY refused',
    acknowledged: 'Seen',
    taken_back: 'Undone',
  },
  sentence: {
    queued: () => 'Discarded here. YUPY is told by itself; until then a manager can undo it.',
    sending: () => 'Discarded here. YUPY is being told.',
    told: () => 'YUPY knows that it is the same sale.',
    closed: () => 'YUPY’s question had ended before it was told. There is nothing more to do.',
    decided_otherwise: (who) =>
      `${who ?? 'Somebody else'} decided before that it is another sale, and at YUPY the first decision stands. Nobody created the sale: a manager has to undo the discard or leave it.`,
    sale_exists: () =>
      'YUPY has this sale as another one. A manager has to undo the discard, or leave it and tell the office.',
    refused: () => 'YUPY did not accept the decision. A manager has to undo the discard or leave it.',
    acknowledged: () => 'A manager saw that YUPY says otherwise and left it discarded.',
    taken_back: () => 'Undone before YUPY was told.',
  },
  title: 'Discarded',
  takeBack: 'Undo the discard',
  takeBackLead:
    'The sale goes back to Review, with the same question. If you gave the money back, collect it again: the sale counts again.',
  takeBackConfirm: 'Undo',
  takeBackReasons: [
    'They were two passengers',
    'I gave the wrong answer',
    'Somebody else decided that it is another sale',
  ],
  leave: 'Leave it discarded',
  leaveLead: 'The sale stays discarded here. Who saw it and why is written down.',
  leaveConfirm: 'Leave it',
  leaveReasons: ['The office was told', 'It is the same sale: I checked'],
  see: 'Look or undo',
};
