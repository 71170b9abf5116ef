/** What is said about the printer and what it printed, in both languages. */
import type { PrinterDevice } from '../bindings/PrinterDevice';
import type { PrinterCodePage } from '../bindings/PrinterCodePage';
import type { PrintFailure } from '../bindings/PrintFailure';
import type { PrintKind } from '../bindings/PrintKind';
import type { PrintState } from '../bindings/PrintState';

type Words = {
  state: Record<PrintState, string>;
  failure: Record<PrintFailure, string>;
  kind: Record<PrintKind, string>;
  codePage: Record<PrinterCodePage, string>;
  device: Record<'none' | PrinterDevice['kind'], string>;
};

export const printingEs = {
  state: {
    queued: 'Por imprimir',
    printing: 'Imprimiendo…',
    printed: 'Impreso',
    failed: 'Sin imprimir',
    unknown: '¿Salió completo?',
    replaced: 'Salió incompleto',
    dismissed: 'Se dejó sin imprimir',
  },
  failure: {
    no_printer: 'La impresora no está. Revise que esté encendida y conectada.',
    no_paper: 'No hay papel, o la tapa está abierta.',
    no_answer: 'La impresora no responde. Apáguela y vuelva a encenderla.',
    wrong_name: 'No existe esa impresora. Revise su dirección en Ajustes.',
    interrupted: 'El programa se cerró mientras imprimía.',
    not_made: 'No se pudo preparar: sus datos no se pueden leer. Avise a soporte.',
  },
  kind: { ticket: 'Ticket', copy: 'Copia', test: 'Página de prueba', drawer: 'Cajón', report: 'Reporte' },
  more: (n: number) => `y ${n} más`,
  retry: 'Reintentar',
  dismiss: 'Dejar sin imprimir',
  question: '¿Salió completo?',
  complete: 'Sí, salió completo',
  incomplete: 'No: imprimir una copia',
  incompletePage: 'No salió completo',
  reprint: 'Reimprimir',
  see: 'Ver ticket',
  ticket: 'Ticket',
  close: 'Cerrar',

  settings: 'Impresora',
  onlyManager: 'Solo un encargado cambia estos datos.',
  where: 'Conexión',
  device: {
    none: 'Sin impresora',
    network: 'Red',
    device_file: 'Cable (USB o serie)',
    file: 'Archivo',
  },
  address: 'Dirección',
  addressHint: 'Por ejemplo 192.168.1.50. Sin puerto es el 9100.',
  path: 'Ruta',
  deviceHint: 'Por ejemplo /dev/usb/lp0.',
  fileHint: 'Cada ticket se agrega al final de este archivo.',
  width: 'Ancho del papel',
  columns: (n: number) => `${n} letras por línea`,
  letters: 'Letras',
  codePage: {
    pc850: 'PC850',
    pc858: 'PC858 (con €)',
    wpc1252: 'WPC1252',
    iso885915: 'ISO 8859-15',
    drawn: 'No sé: imprimir como imagen',
  },
  qrByPrinter: 'La impresora dibuja el código QR',
  cuts: 'La impresora corta el papel',
  printsTickets: 'Imprimir un ticket con cada venta',
  opensDrawer: 'Abrir el cajón al cobrar en efectivo',
  saysNoReceipt: 'Decir que no es comprobante de pago',
  footer1: 'Texto al pie',
  footer2: 'Segunda línea al pie',
  save: 'Guardar',
  saved: 'Guardado.',
  test: 'Imprimir prueba',
  testAsked: 'La prueba va a la impresora.',
  saveFirst: 'Guarde antes de imprimir la prueba.',
  preview: 'Así sale la prueba',
} satisfies Words & Record<string, unknown>;

export const printingEn: typeof printingEs = {
  state: {
    queued: 'To be printed',
    printing: 'Printing…',
    printed: 'Printed',
    failed: 'Not printed',
    unknown: 'Did it come out whole?',
    replaced: 'Came out incomplete',
    dismissed: 'Left unprinted',
  },
  failure: {
    no_printer: 'The printer is not there. See that it is on and connected.',
    no_paper: 'There is no paper, or the lid is open.',
    no_answer: 'The printer does not answer. Switch it off and on again.',
    wrong_name: 'There is no such printer. Look at its address in Settings.',
    interrupted: 'The program ended while it was printing.',
    not_made: 'It could not be made: its data cannot be read. Tell support.',
  },
  kind: { ticket: 'Ticket', copy: 'Copy', test: 'Test page', drawer: 'Drawer', report: 'Report' },
  more: (n: number) => `and ${n} more`,
  retry: 'Try again',
  dismiss: 'Leave unprinted',
  question: 'Did it come out whole?',
  complete: 'Yes, it is whole',
  incomplete: 'No: print a copy',
  incompletePage: 'It is not whole',
  reprint: 'Print again',
  see: 'See ticket',
  ticket: 'Ticket',
  close: 'Close',

  settings: 'Printer',
  onlyManager: 'Only a manager changes these.',
  where: 'Connection',
  device: {
    none: 'No printer',
    network: 'Network',
    device_file: 'Cable (USB or serial)',
    file: 'File',
  },
  address: 'Address',
  addressHint: 'For example 192.168.1.50. Without a port it is 9100.',
  path: 'Path',
  deviceHint: 'For example /dev/usb/lp0.',
  fileHint: 'Each ticket is added at the end of this file.',
  width: 'Width of the paper',
  columns: (n: number) => `${n} letters in a line`,
  letters: 'Letters',
  codePage: {
    pc850: 'PC850',
    pc858: 'PC858 (with €)',
    wpc1252: 'WPC1252',
    iso885915: 'ISO 8859-15',
    drawn: 'Not known: print as a picture',
  },
  qrByPrinter: 'The printer draws the QR code',
  cuts: 'The printer cuts the paper',
  printsTickets: 'Print a ticket with every sale',
  opensDrawer: 'Open the drawer for cash',
  saysNoReceipt: 'Say that it is not a tax receipt',
  footer1: 'Text at the bottom',
  footer2: 'Second line at the bottom',
  save: 'Save',
  saved: 'Saved.',
  test: 'Print a test',
  testAsked: 'The test goes to the printer.',
  saveFirst: 'Save before printing the test.',
  preview: 'How the test comes out',
};
