/**
 * Every text of the screen in Spanish (es-PE). Its shape is the list of texts that exist: `en.ts` must have
 * the same, and every code of the till has its sentence here, or the type check fails.
 */
import type { FindingKind } from '../bindings/FindingKind';
import type { EpochReason } from '../bindings/EpochReason';
import type { StorageWarning } from '../bindings/StorageWarning';
import type { ConnectionState } from '../bindings/ConnectionState';
import type { PracticeLine } from '../bindings/PracticeLine';
import type { ProblemCode } from '../bindings/ProblemCode';
import type { Role } from '../bindings/Role';
import type { SaleReason } from '../bindings/SaleReason';
import type { SaleState } from '../bindings/SaleState';
import type { Standing } from '../bindings/Standing';
import type { Signal } from '../shared/signals';
import { people } from './people.es';
import { cash, closing, report } from './shift.es';
import { sale } from './sale.es';
import { cardEs } from './card';
import { discardEs } from './discard';
import { auditEs } from './audit';
import { elsewhereEs } from './elsewhere';
import { searchEs } from './search';
import { printingEs } from './printing';
import { settings } from './settings.es';
import { discount } from './discount.es';
import { tender } from './tender.es';

/** A short name for the status bar and what the person can do about it. */
export type ConnectionWords = { label: string; advice: string };
/** A sentence about a refusal; `detail` is the figure or name that belongs in it. */
export type ProblemSentence = (detail: string | null) => string;

const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;

const connection: Record<ConnectionState, ConnectionWords> = {
  unknown: { label: 'Aún sin contacto con YUPY', advice: 'Puede vender; se enviará al conectar.' },
  online: { label: 'Conectado con YUPY', advice: 'Las ventas se confirman solas.' },
  no_network: { label: 'Sin red', advice: 'Siga vendiendo; se envía al volver la red.' },
  no_name_resolution: {
    label: 'No se encuentra a YUPY',
    advice: 'Revise el Wi-Fi. Puede seguir vendiendo.',
  },
  portal: {
    label: 'El Wi-Fi pide iniciar sesión',
    advice: 'Inicie sesión en él. Puede seguir vendiendo.',
  },
  certificate_or_clock: {
    label: 'Conexión no segura',
    advice: 'Revise la fecha y la hora de este equipo.',
  },
  unreachable: { label: 'YUPY no responde', advice: 'Siga vendiendo; se reintenta solo.' },
  credential_refused: { label: 'YUPY no reconoce esta caja', advice: 'Avise al encargado. Nada se pierde.' },
  wrong_address: { label: 'Dirección de YUPY incorrecta', advice: 'Avise al encargado. Nada se pierde.' },
  paused: { label: 'Envío en pausa', advice: 'Reanúdelo en Pendientes. Puede seguir vendiendo.' },
};

/** What the till says about a connection that failed, in this language. */
function because(cause: string | null): string {
  const words: Partial<Record<string, ConnectionWords>> = connection;
  const label = cause === null ? undefined : words[cause]?.label;
  return label === undefined ? '' : ` (${label})`;
}

const standing: Record<Standing, string> = {
  saved: 'Guardada aquí',
  unconfirmed: 'Sin confirmar',
  confirmed: 'Confirmada por YUPY',
};

const saleState: Record<SaleState, string> = {
  queued: 'En espera',
  sending: 'Enviando',
  accepted: 'Confirmada',
  in_review: 'Por revisar',
  needs_attention: 'Necesita atención',
  on_hold: 'Retenida',
  discarded: 'Descartada',
  withdrawn: 'Anulada aquí',
};

const saleReason: Record<SaleReason, string> = {
  not_tried_yet: 'Todavía no se envió. Se enviará sola en un momento.',
  no_network: 'No hay red. Se enviará sola cuando vuelva.',
  no_name_resolution: 'No se encontró la dirección de YUPY. Revise el Wi-Fi; se reintenta sola.',
  portal: 'Respondió la página del Wi-Fi, no YUPY. Inicie sesión en el Wi-Fi; se reintenta sola.',
  certificate_or_clock: 'La conexión no es segura. Revise la fecha y la hora de este equipo.',
  unreachable: 'YUPY no responde. Se reintenta sola.',
  timed_out: 'YUPY tardó demasiado: quizá la recibió. Se pregunta otra vez sin duplicarla.',
  connection_lost: 'La conexión se cortó: quizá llegó. Se pregunta otra vez sin duplicarla.',
  server_busy: 'YUPY está ocupado. Se reintenta sola.',
  in_progress_at_yupy: 'YUPY la está procesando. Se vuelve a preguntar sola.',
  credential_refused: 'YUPY no reconoce esta caja. Avise al encargado; la venta espera aquí.',
  wrong_address: 'La dirección de YUPY es incorrecta. Avise al encargado; la venta espera aquí.',
  unusable_answer: 'Llegó una respuesta que no se entiende. Se reintenta sola.',
  paused: 'El envío está en pausa. La venta espera aquí.',
  interrupted_by_restart: 'El programa se cerró mientras se enviaba. Se pregunta otra vez sin duplicarla.',
  possible_duplicate: 'YUPY pregunta si es una venta repetida. Un encargado debe revisarla.',
  confirmation_refused: 'YUPY no aceptó la decisión. Se vuelve a preguntar.',
  missing_at_yupy: 'YUPY ya no la tiene. Se envía otra vez, sin duplicarla.',
  corrected: 'Un encargado la revisó. Se envía otra vez.',
  from_another_till: 'Vino en un archivo de otra caja. Se busca en YUPY antes de enviarla.',
  confirming: 'El encargado dijo que es otra venta. Se está confirmando con YUPY.',
  external_transaction_conflict: 'YUPY ya tiene este número con otros datos. Avise al encargado.',
  idempotency_conflict: 'YUPY recibió antes otro contenido con esta clave. Avise al encargado.',
  identity_collision: 'Otra caja usó el mismo número. Esta venta no se dio por recibida: avise a soporte.',
  validation_failed: 'YUPY rechazó un dato de la venta. El encargado debe corregirla.',
  refused: 'YUPY rechazó la venta. Avise al encargado.',
  reconciliation_required: 'YUPY debe aclarar esta venta. No la cobre otra vez.',
  stored_body_changed:
    'El dato guardado de la venta cambió desde que se vendió. No se envía: avise a soporte.',
  same_sale: 'El encargado decidió que era la misma venta. No se envía.',
  withdrawn: 'Se anuló antes de llegar a YUPY. No se envía.',
};

const storage: Record<StorageWarning, string> = {
  backup_failed: 'No se pudo hacer la copia de seguridad. Revise el espacio en el disco.',
  journal_failed:
    'Las ventas no se están anotando en el diario. Se guardan igual; revise la tarjeta o el disco del diario.',
  disk_low:
    'No queda espacio en el disco: no se puede cobrar. Lo vendido se sigue enviando. Libere espacio y la caja volverá a vender sola.',
};

const epochReason: Record<EpochReason, string> = {
  enrolled: 'Esta caja se conectó.',
  witness_missing: 'Los datos de esta caja vienen de otro equipo.',
  folder_copied: 'Hay una copia de los datos de esta caja en uso.',
  other_machine: 'Los datos de esta caja pasaron a otro equipo.',
  went_back: 'Los datos de esta caja son los de una copia anterior.',
  backup_restored: 'El archivo de ventas estaba dañado y se abrió la última copia de seguridad.',
  identity_collision: 'Otra caja usó los números de esta.',
};

/** What a member of a sale is called. */
function fieldName(name: string | null): string {
  const names: Partial<Record<string, string>> = sale.fields;
  return (name === null ? undefined : names[name]) ?? 'Un dato no es válido';
}

const problem: Record<ProblemCode, ProblemSentence> = {
  folder_in_use: () => 'Otra ventana de Turno usa estos datos. Cierre la otra y vuelva a abrir esta.',
  folder_not_writable: (path) =>
    `No se puede escribir en la carpeta de datos${path ? ` (${path})` : ''}. Revise los permisos y vuelva a abrir.`,
  database_newer: () =>
    'Los datos son de una versión más nueva de Turno. Instale la versión nueva; nada se ha cambiado.',
  database_damaged: () =>
    'Los datos guardados están dañados. No borre nada y avise a soporte: las ventas se pueden rescatar.',
  disk_full: () =>
    'Queda muy poco espacio en el disco: no cobre. Libere espacio y la caja volverá a vender sola.',
  address_invalid: () => 'Esa dirección no es válida. Escriba, por ejemplo, yupy.empresa.pe.',
  address_unreachable: (cause) =>
    `No se pudo llegar a esa dirección${because(cause)}. Revise la red y la dirección.`,
  enrolment_refused: () => 'YUPY no aceptó el código. Puede estar usado o mal escrito: pida uno nuevo.',
  not_yupy: () => 'En esa dirección respondió otro servicio, no YUPY. Revise la dirección o el Wi-Fi.',
  practice_failed: () => 'No se pudo iniciar la práctica. Cierre el programa y vuelva a abrirlo.',
  not_unlocked: () => 'La caja está bloqueada. Ingrese su PIN.',
  pin_wrong: () => 'PIN incorrecto. Inténtelo otra vez.',
  pin_locked: (seconds) =>
    seconds ? `Demasiados intentos. Espere ${seconds} s.` : 'Demasiados intentos. Espere un momento.',
  pin_weak: () => 'Ese PIN es muy fácil de adivinar. Use 6 dígitos o más, sin series ni repetidos.',
  name_invalid: () => 'Escriba un nombre de hasta 60 letras.',
  manager_required: () => 'Solo un encargado puede hacer esto.',
  last_manager: () => 'Es el único encargado. Agregue otro antes de retirarlo.',
  reason_required: () => 'Elija o escriba el motivo, en pocas palabras.',
  shift_required: () => 'Primero abra el turno.',
  shift_already_open: () => 'Ya hay un turno abierto.',
  not_enough_cash: (there) => `En el cajón no hay tanto efectivo${there ? `: hay S/ ${there}` : ''}.`,
  figures_changed: () => 'Las cifras cambiaron mientras contaba. Mírelas y cierre otra vez.',
  amount_invalid: () => 'El monto no se entiende. Escriba, por ejemplo, 85.50.',
  ticket_empty: () => 'El ticket está vacío. Agregue un pasaje o un producto.',
  ticket_too_long: () => 'El ticket tiene demasiadas líneas. Cobre en dos partes.',
  offer_gone: (name) =>
    name
      ? `«${name}» ya no está en el catálogo. Quítelo del ticket.`
      : 'Algo del ticket ya no está en el catálogo. Quítelo y elija otro.',
  price_changed: () => 'El precio cambió. Quite la línea y agréguela de nuevo para ver el precio actual.',
  seat_required: () => 'Elija un asiento.',
  seat_twice: () => 'El mismo asiento está dos veces en el ticket. Quite una línea.',
  seat_unknown: (seat) => (seat ? `El asiento ${seat} no existe en este bus.` : 'Ese asiento no existe.'),
  quantity_invalid: () => 'La cantidad no es válida.',
  buyer_name_invalid: () => 'El nombre del pasajero admite hasta 120 letras y ningún carácter de control.',
  received_too_little: () => 'Lo recibido no alcanza para el total.',
  discount_invalid: () => 'El descuento no es válido: debe quedar un precio de al menos S/ 0.10.',
  tenders_invalid: () => 'Elija con qué se paga: hasta cuatro pagos, y solo uno por el resto.',
  tender_too_much: (left) =>
    `Es más de lo que falta pagar${left === null ? '' : ` (${left})`}. Solo el efectivo da vuelto.`,
  operation_number_invalid: () => 'Escriba el número de operación: de 4 a 32 letras o números.',
  operation_number_used: (sale) =>
    sale === null
      ? 'Ese número de operación está dos veces en este ticket.'
      : `Ese número de operación ya pagó la venta ${sale}. Mire otra vez el pago del cliente.`,
  card_alone: () => 'La tarjeta paga el ticket entero. Quite los otros pagos.',
  card_needs_line: () => 'Sin línea no se puede cobrar con tarjeta. Use efectivo o billetera.',
  card_not_chargeable: () => 'Ahora no se puede cobrar esta venta con tarjeta. Mire su estado.',
  card_was_charged: () => 'Esta venta está pagada. La anula un encargado.',
  draft_already_recorded: () => 'Este ticket ya quedó cobrado. Mire Ventas antes de cobrar otra vez.',
  question_changed: () => 'La pregunta de YUPY cambió. Revise los datos nuevos y decida otra vez.',
  not_in_review: () => 'Esta venta ya no espera una decisión.',
  money_handling_required: () => 'Diga qué pasó con el dinero.',
  take_back_too_late: () =>
    'Ya no se puede deshacer: YUPY ya fue avisado, el turno se cerró o el asiento se vendió otra vez.',
  decided_elsewhere: (who) => `${who ?? 'Otra persona'} decidió antes, y vale su decisión.`,
  printer_missing: () => 'Esta caja no tiene impresora. Un encargado la elige en Ajustes.',
  printer_settings_invalid: (what) =>
    what === 'address' || what === 'path'
      ? 'Revise la dirección de la impresora: no se puede usar así.'
      : 'Revise los datos de la impresora: ancho y texto al pie.',
  not_correctable: () => 'Esta venta no espera una corrección.',
  sale_changed: () => 'La venta cambió mientras la miraba. Ciérrela y vuelva a abrirla.',
  text_invalid: (name) => `${fieldName(name)}: hasta 120 letras, sin caracteres de control.`,
  already_voided: () => 'Esta venta ya está anulada: el dinero se devolvió una vez.',
  void_awaits_payment: () => 'Aún no se sabe si la tarjeta se cobró. Espere la respuesta para anular.',
  void_awaits_decision: () => 'Para devolver el dinero, responda primero la pregunta de YUPY en Revisar.',
  void_not_possible: () => 'Esta venta no se puede anular aquí. Avise a soporte.',
  void_limit: (limit) => `Devolver más de ${limit ?? 'ese monto'} lo hace la oficina.`,
  passphrase_short: (enough) => `Use una frase de ${enough ?? '10'} letras o más.`,
  passphrase_wrong: () => 'Esa frase no abre este archivo. Escríbala igual que en la otra caja.',
  nothing_to_export: () => 'No hay ventas sin enviar.',
  too_many_sales: (limit) => `Son demasiadas ventas para un archivo${limit ? ` (más de ${limit})` : ''}.`,
  file_exists: () => 'Ya hay un archivo con ese nombre. Elija otro; aquel no se cambió.',
  file_not_written: (why) =>
    `No se pudo escribir el archivo${why ? ` (${why})` : ''}. Revise la carpeta y el espacio.`,
  folder_missing: (folder) =>
    `No está la carpeta${folder ? ` ${folder}` : ''}. Conecte la memoria o elija otra carpeta.`,
  file_no_room: (folder) =>
    `No hay espacio${folder ? ` en ${folder}` : ''} para el archivo. Libere espacio o elija otra carpeta.`,
  file_not_read: (why) =>
    `No se pudo leer el archivo${why ? ` (${why})` : ''}. Revise la carpeta y el nombre.`,
  file_foreign: () => 'Ese archivo no es de ventas sin enviar de Turno.',
  file_newer: () =>
    'El archivo es de una versión más nueva de Turno. Actualice esta caja; no se importó nada.',
  file_damaged: () => 'El archivo está cortado o cambiado. Cópielo otra vez; no se importó nada.',
  other_company: () => 'El archivo es de otra empresa o de otro YUPY. No se importó nada.',
  not_found: () => 'No se encontró.',
  not_allowed_now: () => 'Ahora no se puede hacer esto.',
  disk_failed: () => 'El disco falló y la venta no se guardó. Pulse Cobrar otra vez.',
  outcome_unknown: () =>
    'El disco no dijo si la venta se guardó. Pulse Cobrar otra vez: no se cobrará dos veces.',
  internal: () => 'Algo falló dentro del programa. Nada se perdió; inténtelo otra vez.',
};

const signal: Record<Signal, string> = {
  amount: 'mismo monto',
  currency: 'misma moneda',
  buyer_name: 'mismo pasajero',
  shift_id: 'mismo turno',
  device_id: 'mismo equipo',
  route: 'misma ruta',
  seat: 'mismo asiento',
  order: 'mismo pedido',
  product: 'mismo producto',
  service: 'mismo servicio',
  custom_reference_1: 'misma referencia 1',
  custom_reference_2: 'misma referencia 2',
};

const role: Record<Role, string> = { cashier: 'Cajero', manager: 'Encargado' };

const practiceLine: Record<PracticeLine, string> = {
  online: 'en línea',
  offline: 'sin red',
  lost_reply: 'respuesta perdida',
  slow: 'lenta (3G)',
  portal: 'portal',
};

export const es = {
  locale: 'es-PE',
  connection,
  standing,
  saleState,
  saleReason,
  problem,
  signal,
  role,
  practiceLine,
  report,
  cash,
  closing,
  sale,
  printing: printingEs,
  card: cardEs,
  discard: discardEs,
  elsewhere: elsewhereEs,
  search: searchEs,
  audit: auditEs,
  people,

  common: {
    product: 'Turno',
    opening: 'Abriendo la caja…',
    loading: 'Cargando…',
    loadMore: 'Ver más',
    language: 'Idioma',
    lock: 'Bloquear',
    whoIsHere: 'Atiende',
  },

  time: {
    months: ['ene', 'feb', 'mar', 'abr', 'may', 'jun', 'jul', 'ago', 'set', 'oct', 'nov', 'dic'],
    seconds: (n: number) => `${n} s`,
    minutes: (n: number) => `${n} min`,
    hours: (hours: number, minutes: number) => (minutes === 0 ? `${hours} h` : `${hours} h ${minutes} min`),
    days: (n: number) => count(n, 'día', 'días'),
  },

  unavailable: {
    title: 'Turno no puede abrir',
    nothingChanged: 'No se cambió ni se perdió nada.',
    technical: 'Para soporte',
  },

  welcome: {
    title: 'Bienvenido a Turno',
    lead: 'La caja que vende aunque no haya red.',
    practiceTitle: 'Practicar',
    practiceText: 'Con rutas, precios y un YUPY de práctica en este equipo. No se cobra nada de verdad.',
    practiceAction: 'Empezar a practicar',
    practiceBusy: 'Preparando la práctica…',
    connectTitle: 'Conectar con YUPY',
    connectText: 'Con la dirección y el código de inscripción que le dio su empresa.',
    connectAction: 'Conectar con YUPY',
    reconnectText:
      'Estos datos vienen de otro equipo y las ventas están aquí. Pida a su empresa un código nuevo; después cree otra vez al encargado.',
    address: 'Dirección de YUPY',
    addressHint: 'Por ejemplo: yupy.empresa.pe',
    code: 'Código de inscripción',
    codeHint: 'Sirve una sola vez.',
    submit: 'Conectar',
    busy: 'Conectando…',
    back: 'Volver',
  },

  firstManager: {
    title: 'Cree el primer encargado',
    lead: 'El encargado abre la caja y aprueba decisiones con su PIN.',
    name: 'Nombre',
    submit: 'Crear encargado',
  },

  lock: {
    title: '¿Quién atiende?',
    pin: 'PIN',
    pinFor: (name: string) => `PIN de ${name}`,
    unlock: 'Entrar',
    erase: 'Borrar',
    digit: (digit: string) => `Dígito ${digit}`,
    practicePin: (pin: string) => `PIN de práctica: ${pin}`,
    leavePractice: 'Salir de la práctica',
  },

  shift: {
    title: 'Abrir turno',
    lead: (name: string) => `Hola, ${name}. Cuente el efectivo con el que empieza.`,
    float: 'Efectivo inicial',
    floatHint: 'Puede ser 0. Por ejemplo: 150 o 85.50.',
    submit: 'Abrir turno',
  },

  nav: {
    label: 'Vistas',
    sell: 'Vender',
    pending: 'Pendientes',
    review: 'Revisar',
    sales: 'Ventas',
    shift: 'Turno',
    full: 'Mucho efectivo en el cajón',
    settings: 'Ajustes',
  },

  settings: {
    appearance: 'Pantalla',
    languages: { es: 'Español', en: 'English' },
    theme: 'Colores',
    themes: { light: 'Claro', dark: 'Oscuro', high_contrast: 'Alto contraste' },
    textSize: 'Tamaño del texto',
    textSizes: { normal: 'Normal', large: 'Grande', largest: 'Muy grande' },
    ...settings,
  },

  status: {
    label: 'Estado de la caja',
    allSent: 'Todo confirmado',
    pendingShort: (n: number) => count(n, 'pendiente', 'pendientes'),
    reviews: (n: number) => `${n} por revisar`,
    attention: (n: number) => count(n, 'con problema', 'con problema'),
    collision: (n: number) =>
      `${count(n, 'respuesta muestra', 'respuestas muestran')} que otra caja usa la identidad de esta. ` +
      'Esta caja ya usa números nuevos: siga vendiendo y avise a soporte.',
    epochReason,
    storage,
    newEpoch: (epoch: string, toLookUp: number, recovered: number) =>
      `Sus tickets llevan letras nuevas (${epoch}); puede seguir vendiendo.` +
      (toLookUp > 0
        ? ` ${count(toLookUp, 'venta', 'ventas')} de antes: se busca en YUPY antes de enviar.`
        : '') +
      (recovered > 0 ? ` ${count(recovered, 'venta recuperada', 'ventas recuperadas')} del diario.` : ''),
    differences: (n: number) =>
      `${count(n, 'diferencia', 'diferencias')} entre YUPY y esta caja: véalas en Ventas y avise al encargado.`,
    clockAhead: (duration: string) =>
      `El reloj de este equipo está adelantado ${duration}. Corríjalo: las ventas llevan esa hora.`,
    clockBehind: (duration: string) =>
      `El reloj de este equipo está atrasado ${duration}. Corríjalo: las ventas llevan esa hora.`,
    nextTry: (duration: string) => `reintento en ${duration}`,
    tryingNow: 'intentando ahora',
    shift: (id: string) => `Turno ${id}`,
    device: (id: string) => `Caja ${id}`,
  },

  practice: {
    title: 'Práctica',
    line: 'Red de práctica',
    pins: 'PIN de práctica',
  },

  tender,
  discount,

  sell: {
    search: 'Buscar ruta, salida o producto',
    searchHint: 'Escriba, elija con ↑ ↓ y pulse Enter.',
    noOffers: 'Nada coincide con la búsqueda.',
    kind: { departure: 'Salida', fare: 'Urbano', product: 'Producto' },
    seatsFree: (n: number) => count(n, 'libre', 'libres'),
    ticket: 'Ticket',
    ticketEmpty: 'Busque una salida o un producto para empezar.',
    guideTitle: 'Con el teclado',
    guide: [
      { key: 'Enter', what: 'elegir y pasar al siguiente dato' },
      { key: '↑ ↓', what: 'moverse por la lista o los asientos' },
      { key: 'Esc', what: 'volver a la búsqueda' },
      { key: '+ −', what: 'cambiar la cantidad' },
      { key: 'F8', what: 'escribir lo recibido; otra vez: Yape, Plin o tarjeta' },
      { key: '⇧ F8', what: 'dividir el pago' },
      { key: 'Ctrl D', what: 'descuento de la línea' },
      { key: 'F9', what: 'cobrar' },
    ],
    emptyTicket: 'Vaciar',
    buyer: 'Pasajero (opcional)',
    quantity: 'Cantidad',
    more: 'Uno más',
    fewer: 'Uno menos',
    quantityKeys: 'teclas + −',
    removeLine: (what: string) => `Quitar ${what}`,
    seat: (seat: string) => `Asiento ${seat}`,
    seatSoldHere: (time: string) => `¡Ojo! Ya se vendió aquí a las ${time}.`,
    total: 'Total',
    rounding: 'Redondeo',
    due: 'A cobrar',
    received: 'Recibido',
    exact: 'Exacto',
    change: 'Vuelto',
    missing: 'Falta',
    charge: 'Cobrar',
    charging: 'Guardando…',
    typeReceived: 'Escriba lo recibido, o pulse F9 si el pago es exacto.',
    implausible: (received: string) => `¿Recibió ${received}? Revise el monto. Si es correcto, pulse F9.`,
    lastSale: 'Última venta',
    changeToGive: 'Vuelto a entregar',
    noChange: 'Sin vuelto',
  },

  seats: {
    title: 'Elija el asiento',
    typed: 'Asiento',
    typedHint: 'Escriba el número o use las flechas; Enter elige.',
    back: 'Volver a la búsqueda',
    done: 'Listo',
    deck: (n: number) => `Piso ${n}`,
    deckPrice: (deck: string, price: string) => `${deck} · ${price}`,
    from: (price: string) => `desde ${price}`,
    free: 'libre',
    chosen: 'elegido',
    sold: (time: string) => `vendido aquí ${time}`,
    describe: (seat: string, price: string, state: string) => `Asiento ${seat}, ${price}, ${state}`,
  },

  lookAlike: {
    title: 'Parece una venta repetida',
    seat: (seat: string, duration: string) => `El asiento ${seat} ya se vendió hace ${duration}.`,
    general: (what: string, duration: string) => `«${what}» ya se vendió hace ${duration}.`,
    because: (signals: string) => `Coincide: ${signals}.`,
    nothingRecorded: 'Todavía no se cobró nada.',
    sell: 'Es otra venta: vender igual',
    back: 'Volver al ticket',
  },

  pending: {
    title: 'Pendientes',
    lead: 'Ventas guardadas en esta caja que YUPY aún no confirmó. No se pierden.',
    empty: 'No hay pendientes: YUPY confirmó todas las ventas.',
    sendNow: 'Enviar ahora',
    sending: 'Enviando…',
    pause: 'Trabajar sin conexión',
    resume: 'Reanudar envío',
    nothingToSend: 'No había nada que enviar ahora.',
    report: (attempted: number, accepted: number, left: number) =>
      `Se intentó con ${attempted}: YUPY confirmó ${accepted}. Quedan ${left} por confirmar.`,
    attempts: (n: number) => (n === 0 ? 'Sin intentos' : count(n, 'intento', 'intentos')),
    nextTry: (duration: string) => `próximo en ${duration}`,
    dueNow: 'próximo: ahora',
    soldAt: (device: string, seller: string) => `vendida por ${seller} en la caja ${device}`,
    detail: 'Dijo YUPY',
  },

  sales: {
    title: 'Ventas',
    empty: 'Aún no hay ventas en esta caja.',
    time: 'Hora',
    what: 'Venta',
    seller: 'Vendedor',
    amount: 'Monto',
    state: 'Estado',
    compare: 'Comparar con YUPY',
    comparing: 'Comparando…',
    neverCompared: 'Todavía no se comparó con YUPY.',
    compared: (when: string, n: number) =>
      `Comparado con YUPY el ${when}: ${count(n, 'venta revisada', 'ventas revisadas')}.`,
    noDifferences: 'Sin diferencias.',
    ofOthers: (n: number) =>
      `${count(n, 'venta es', 'ventas son')} de otro equipo con el nombre de esta caja.`,
    moreFindings: (n: number) => `Y ${n} más.`,
    finding: {
      unknown_here: 'YUPY la tiene y esta caja no. Avise a soporte.',
      amount_differs: 'YUPY tiene otro monto. Avise a soporte.',
      discarded_here: 'Aquí se decidió que era la misma venta, y YUPY tiene las dos. Avise al encargado.',
      sent_again: 'YUPY la había perdido. Se envía otra vez, sin duplicarla.',
    } satisfies Record<FindingKind, string>,
    amounts: (ours: string, theirs: string) => `aquí ${ours}, en YUPY ${theirs}`,
  },

  review: {
    title: 'Revisar',
    lead: 'YUPY pregunta si estas ventas son repetidas. Decide un encargado; mientras, se puede seguir vendiendo.',
    empty: 'No hay nada que revisar.',
    open: 'Revisar',
    asked: (duration: string) => `Pregunta de hace ${duration}`,
    dialogTitle: '¿Es una venta repetida?',
    own: 'Esta venta',
    candidate: 'Venta anterior',
    field: 'Dato',
    comparison: '¿Igual?',
    equal: 'igual',
    different: 'distinto',
    unknown: 'sin dato',
    moreCandidates: (n: number) =>
      `Hay ${count(n, 'venta anterior parecida', 'ventas anteriores parecidas')}; se muestra la más cercana.`,
    previousSuperseded:
      'La decisión anterior no sirvió porque apareció otra venta parecida. Hay que decidir de nuevo.',
    previousExpired: 'La decisión anterior venció antes de llegar a YUPY. Hay que decidir de nuevo.',
    changed: 'La pregunta cambió mientras la miraba. Estos son los datos nuevos.',
    gone: 'Esta venta ya no espera una decisión.',
    fields: {
      amount: 'Monto',
      occurred_at: 'Hora',
      description: 'Venta',
      route: 'Ruta',
      seat: 'Asiento',
      buyer_name: 'Pasajero',
      device_id: 'Equipo',
      shift_id: 'Turno',
      seller: 'Vendedor',
      state: 'En YUPY',
      external_transaction_id: 'Número',
      yupy_transaction_id: 'N.º YUPY',
    },
    operational: { active: 'activa', voided: 'anulada' },
    financial: {
      awaiting_payment: 'por pagar',
      processing: 'pago en proceso',
      paid: 'pagada',
      declined: 'pago rechazado',
      refunded: 'devuelta',
    },
    notAtYupy: 'aún no está en YUPY',
    sentence: {
      lead: (parts: string) => `Se parece a otra venta: ${parts}.`,
      seatAndRoute: (seat: string, route: string) => `mismo asiento ${seat} en la ruta ${route}`,
      seat: (seat: string) => `mismo asiento ${seat}`,
      route: (route: string) => `misma ruta ${route}`,
      buyer: (name: string) => `mismo pasajero (${name})`,
      amount: (amount: string) => `mismo monto (${amount})`,
      sameTill: 'en este mismo equipo',
      sameOtherTill: 'en esa misma caja',
      before: (duration: string) => `${duration} antes`,
      after: (duration: string) => `${duration} después`,
      sameTime: 'a la misma hora',
    },
    differentAction: 'Es otra venta',
    differentText: 'Las dos son reales. YUPY registrará también esta.',
    sameAction: 'Es la misma venta',
    sameText: 'Se vendió una sola vez. Esta no se envía.',
    laterAction: 'Decidir después',
    laterText: 'Nada se pierde; la pregunta queda aquí.',
    manager: 'Encargado que decide',
    noManagers: 'No hay encargados en esta caja. Decida después.',
    pin: 'PIN del encargado',
    reason: 'Motivo',
    reasonOwnWords: 'Otro motivo: escríbalo abajo',
    reasonFree: 'Detalle (opcional)',
    reasonFreeRequired: 'Escriba el motivo',
    reasonsDifferent: [
      'Son dos pasajeros distintos',
      'El cliente compró dos veces a propósito',
      'El asiento se liberó y se vendió otra vez',
      'La otra venta tiene un dato equivocado',
    ],
    reasonsSame: [
      'Se cobró dos veces por error',
      'Se repitió al trabarse la pantalla',
      'Dos cajas vendieron al mismo pasajero',
    ],
    money: '¿Qué pasó con el dinero?',
    refunded: 'Se devolvió',
    notCollected: 'No se cobró',
    confirmDifferent: 'Confirmar: es otra venta',
    confirmSame: 'Confirmar: es la misma venta',
    deciding: 'Guardando la decisión…',
    changeAnswer: 'Elegir otra respuesta',
    decidedDifferent: 'Decisión guardada: es otra venta. Se confirma con YUPY.',
    decidedSame: 'Decisión guardada: es la misma venta. No se envía.',
  },
};
