/** The texts about one sale, in Spanish. */
import type { Happening } from '../bindings/Happening';
import type { SaleContent } from '../bindings/SaleContent';
import type { SaleVerdict } from '../bindings/SaleVerdict';

export const sale = {
  title: (id: string) => `Venta ${id}`,
  open: (what: string) => `Ver la venta: ${what}`,
  close: 'Cerrar',
  back: 'Volver',
  verdict: {
    counts: 'Esta venta cuenta: YUPY la tiene.',
    counts_with_difference:
      'Esta venta cuenta. YUPY la tiene como estaba antes de corregirla: avise al encargado.',
    on_its_way: 'Esta venta cuenta: está guardada aquí y se envía sola a YUPY.',
    unconfirmed:
      'Esta venta cuenta aquí. Aún no se sabe si YUPY la tiene: se pregunta sola. No la cobre otra vez.',
    awaits_decision: 'Espera a un encargado: debe decir en Revisar si es otra venta o la misma.',
    awaits_correction: 'YUPY rechazó un dato. Un encargado puede corregirla aquí; no la cobre otra vez.',
    awaits_support:
      'Algo no está bien con esta venta y no se arregla en la caja. Avise a soporte; no la cobre otra vez.',
    does_not_count: 'Esta venta no cuenta: era la misma que otra.',
  } satisfies Record<SaleVerdict, string>,
  happened: {
    recorded: 'Cobrada y guardada en esta caja',
    recovered: 'Recuperada del diario',
    attempt_cut_off: 'Se envió; el programa se cerró antes de la respuesta',
    attempt_running: 'Enviando ahora',
    attempt_ended: 'Se intentó enviar',
    attempt_accepted: 'Se envió y YUPY respondió que la tiene',
    question_asked: 'YUPY preguntó si era una venta repetida',
    decided_different: 'Decisión: es otra venta',
    decided_same: 'Decisión: es la misma venta',
    decision_carried_over: 'YUPY preguntó lo mismo; vale la decisión anterior',
    corrected: 'Corregida',
    sent_again: 'Se volvió a enviar sin cambios',
    accepted: 'Confirmada por YUPY',
    accepted_earlier: 'Confirmada por YUPY en su versión anterior',
    missing_at_yupy: 'YUPY ya no la tenía; se envía otra vez',
    identity_collision: 'Otra caja usó el mismo número',
    body_changed: 'El dato guardado cambió: no se envía',
    printed: 'Ticket impreso',
    copy_asked: 'Se pidió una copia del ticket',
    other: 'Otro hecho anotado',
  } satisfies Record<Happening, string>,
  fields: {
    buyer_name: 'Pasajero',
    route: 'Ruta',
    seat: 'Asiento',
    service: 'Servicio',
    product: 'Producto',
    order: 'Pedido',
    custom_reference_1: 'Referencia 1',
    custom_reference_2: 'Referencia 2',
  } satisfies Record<keyof SaleContent, string>,
  ticket: (n: number) => (n === 1 ? 'Se pagó' : `Se pagó (ticket de ${n} ventas)`),
  empty: 'vacío',
  was: 'antes:',
  timeline: 'Qué pasó',
  leftOut: (n: number) => `Hay ${n} intentos anteriores que no se muestran.`,
  support: 'Para soporte',
  supportLead: 'Números, horas y respuestas, sin datos personales.',
  copy: 'Copiar como texto',
  copied: 'Copiado',
  key: 'Clave',
  revision: 'Versión',
  correct: 'Corregir y enviar otra vez',
  correctLead:
    'Corrija lo que YUPY rechazó. Lo que se pagó y la hora no cambian; el ticket del cliente tampoco.',
  correctConfirm: 'Guardar y enviar otra vez',
  sendAgain: 'Enviar otra vez sin cambios',
  correctReasons: ['El nombre tenía un error', 'El dato se escribió mal', 'YUPY ya acepta este dato'],
};
