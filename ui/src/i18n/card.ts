/** Paying by card, in both languages. */
import type { CardProgress } from '../bindings/CardProgress';
import type { CardTrouble } from '../bindings/CardTrouble';

type Words = {
  title: (amount: string) => string;
  how: string;
  progress: Record<CardProgress, string>;
  unconfirmed: string;
  sentence: Record<CardProgress, string>;
  unconfirmedSentence: string;
  trouble: Record<CardTrouble, string>;
  nextCard: string;
  askAgain: string;
  chargeNow: string;
  otherwise: string;
  otherwiseHelp: string;
  cancel: string;
  goOn: string;
  close: string;
  reason: string;
};

export const cardEs = {
  title: (amount) => `Tarjeta: ${amount}`,
  how: 'Pulse Cobrar y pida la tarjeta. El ticket sale cuando el banco aprueba.',
  progress: {
    awaits_sale: 'Tarjeta: falta cobrar',
    asking: 'Tarjeta: cobrando',
    approved: 'Tarjeta aprobada',
    declined: 'Tarjeta rechazada',
    withdrawn: 'Tarjeta no cobrada',
    needs_attention: 'Tarjeta: falta decidir',
  },
  unconfirmed: 'Tarjeta sin confirmar',
  sentence: {
    awaits_sale: 'La venta va a YUPY primero; después se cobra la tarjeta. Aún no se cobró nada.',
    asking: 'Se pide el cobro al banco.',
    approved: 'El banco aprobó el cobro.',
    declined: 'El banco rechazó la tarjeta. No se cobró nada.',
    withdrawn: 'No se cobró nada.',
    needs_attention: 'El cobro espera a una persona.',
  },
  unconfirmedSentence:
    'Sin confirmar: tal vez ya se cobró. Se pregunta sola por el mismo cobro; no cobre de otro modo hasta saberlo.',
  trouble: {
    too_late: 'La línea volvió tarde y no se cobró nada. Cobre ahora solo si el cliente está aquí.',
    invalid_state: 'YUPY no acepta un cobro para esta venta como está. Avise a soporte.',
    not_found: 'YUPY no encuentra la venta. Avise a soporte.',
    reconciliation_required: 'El banco tiene el cobro con otro monto. No cobre otra vez; avise a soporte.',
    refused: 'YUPY no aceptó el pedido de cobro. Avise a soporte.',
  },
  nextCard: 'Otra tarjeta',
  askAgain: 'Preguntar otra vez',
  chargeNow: 'Cobrar ahora',
  otherwise: 'Cobrar de otro modo',
  otherwiseHelp: 'Anula lo que no se cobró y lo pone otra vez en el ticket.',
  cancel: 'Anular: no se cobró nada',
  goOn: 'Seguir vendiendo',
  close: 'Listo',
  reason: 'La tarjeta no se cobró',
} satisfies Words;

export const cardEn = {
  title: (amount) => `Card: ${amount}`,
  how: 'Press Charge and ask for the card. The ticket comes out when the bank approves.',
  progress: {
    awaits_sale: 'Card: to be charged',
    asking: 'Card: charging',
    approved: 'Card approved',
    declined: 'Card declined',
    withdrawn: 'Card not charged',
    needs_attention: 'Card: to be decided',
  },
  unconfirmed: 'Card unconfirmed',
  sentence: {
    awaits_sale: 'The sale goes to YUPY first; then the card is charged. Nothing was charged yet.',
    asking: 'The bank is being asked for the charge.',
    approved: 'The bank approved the charge.',
    declined: 'The bank declined the card. Nothing was charged.',
    withdrawn: 'Nothing was charged.',
    needs_attention: 'The charge waits for a person.',
  },
  unconfirmedSentence:
    'Unconfirmed: it may have been charged. The same charge is asked for by itself; do not charge in another way until you know.',
  trouble: {
    too_late: 'The line came back late and nothing was charged. Charge now only if the customer is here.',
    invalid_state: 'YUPY takes no charge for this sale as it stands. Call support.',
    not_found: 'YUPY does not find the sale. Call support.',
    reconciliation_required:
      'The bank has the charge with another amount. Do not charge again; call support.',
    refused: 'YUPY did not take the request to charge. Call support.',
  },
  nextCard: 'Another card',
  askAgain: 'Ask again',
  chargeNow: 'Charge now',
  otherwise: 'Charge in another way',
  otherwiseHelp: 'Voids what was not charged and puts it on the ticket again.',
  cancel: 'Void: nothing was charged',
  goOn: 'Go on selling',
  close: 'Done',
  reason: 'The card was not charged',
} satisfies Words;
