/** What the settings say, in Spanish. */
const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;

export const settings = {
  folder: 'Carpeta',
  unsent: {
    title: 'Ventas sin enviar',
    lead: (n: number) =>
      n === 0
        ? 'YUPY confirmó todas las ventas de esta caja.'
        : `${count(n, 'venta espera', 'ventas esperan')} en esta caja. Si no puede enviarlas, llévelas a otra: no se duplican.`,
    export: 'Exportar…',
    import: 'Importar…',
    file: 'Archivo',
    filePlaceholder: '/media/usb/turno-D03.ventas',
    passphrase: 'Frase',
    passphraseHint: 'La que se escribió al exportar.',
    newPassphraseHint: '10 letras o más. Anótela: sin ella nadie abre el archivo.',
    exportHint: 'En una memoria USB u otra carpeta.',
    importHint: 'El archivo que se exportó en la otra caja.',
    exportAction: 'Exportar las ventas sin enviar',
    exporting: 'Escribiendo el archivo…',
    importAction: 'Importar las ventas',
    importing: 'Revisando el archivo…',
    exported: (n: number, path: string) =>
      `${count(n, 'venta', 'ventas')} en ${path}. Siguen también en esta caja.`,
    imported: (n: number, already: number, device: string, when: string) =>
      `Archivo de la caja ${device}, ${when}: ${count(n, 'venta importada', 'ventas importadas')}` +
      (already > 0 ? `, ${already} ya ${already === 1 ? 'estaba' : 'estaban'} aquí.` : '.'),
  },
  offline: {
    title: 'Trabajar sin conexión',
    lead: 'Las ventas se envían solas. Puede detener el envío; nada se pierde.',
    paused: 'El envío está en pausa: las ventas se guardan aquí hasta que lo reanude.',
  },
  backup: {
    title: 'Copia de seguridad',
    lead: 'Se hace sola cada día.',
    last: 'Última copia',
    never: 'Todavía ninguna',
    now: 'Copiar ahora',
    copying: 'Copiando…',
  },
  journal: {
    title: 'Diario',
    lead: 'Cada venta se anota también aquí. Lo mejor es otra memoria; se elige al iniciar el programa.',
  },
  about: {
    title: 'Acerca de esta caja',
    version: 'Turno',
    company: 'Empresa',
    device: 'Caja',
    epoch: 'Letras de los tickets',
    address: 'YUPY',
    dataFolder: 'Datos',
  },
};
