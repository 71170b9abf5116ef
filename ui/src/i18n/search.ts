/** What is said where sales are looked for, in both languages. */
import type { SalesPeriod } from '../bindings/SalesPeriod';
import type { SalesStanding } from '../bindings/SalesStanding';

export const searchEs = {
  label: 'Buscar ventas',
  placeholder: 'Número, asiento, nombre, monto, fecha o ruta',
  standing: 'Estado',
  anyStanding: 'Todos los estados',
  standings: {
    waiting: 'Esperan a YUPY',
    confirmed: 'Confirmadas',
    needs_attention: 'Por revisar',
    voided: 'Anuladas',
  } satisfies Record<SalesStanding, string>,
  tender: 'Pago',
  anyTender: 'Todos los pagos',
  period: 'Periodo',
  periods: {
    always: 'Siempre',
    this_shift: 'Este turno',
    days: 'Días…',
  } satisfies Record<SalesPeriod['kind'], string>,
  from: 'Desde',
  to: 'Hasta',
  nothing: 'Ninguna venta coincide.',
  clear: 'Ver todas las ventas',
  export: 'Exportar a CSV',
  exportAll: 'Todas las ventas de esta caja, una por fila.',
  exportFound:
    'Las ventas que coinciden con la búsqueda, una por fila, también las que no caben en la pantalla.',
  exportHint: 'El archivo dice quién compró y cuánto: lo autoriza un encargado y queda en la auditoría.',
  decimalComma: 'Coma decimal (85,50), celdas separadas por punto y coma',
  forExcel: 'Para abrirlo con Excel: así se leen bien la ñ y las tildes',
  exportAction: 'Exportar',
  exporting: 'Exportando…',
  exported: (n: number, path: string) => `${n} ${n === 1 ? 'venta' : 'ventas'} en ${path}.`,
};

export const searchEn: typeof searchEs = {
  label: 'Search sales',
  placeholder: 'Number, seat, name, amount, date or route',
  standing: 'State',
  anyStanding: 'Every state',
  standings: {
    waiting: 'Waiting for YUPY',
    confirmed: 'Confirmed',
    needs_attention: 'To be looked at',
    voided: 'Voided',
  },
  tender: 'Payment',
  anyTender: 'Every payment',
  period: 'Period',
  periods: { always: 'Always', this_shift: 'This shift', days: 'Days…' },
  from: 'From',
  to: 'Until',
  nothing: 'No sale matches.',
  clear: 'See all sales',
  export: 'Export as CSV',
  exportAll: 'All sales of this till, one a row.',
  exportFound: 'The sales that match the search, one a row, also those that the screen has no room for.',
  exportHint: 'The file says who bought and for how much: a manager allows it, and the audit tells.',
  decimalComma: 'Decimal comma (85,50), cells separated by semicolons',
  forExcel: 'To be opened with Excel: accents are read right',
  exportAction: 'Export',
  exporting: 'Exporting…',
  exported: (n, path) => `${n} ${n === 1 ? 'sale' : 'sales'} in ${path}.`,
};
