/** What the settings say, in English. */
const count = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;

export const settings = {
  folder: 'Folder',
  unsent: {
    title: 'Unsent sales',
    lead: (n: number) =>
      n === 0
        ? 'YUPY confirmed all sales of this till.'
        : `${count(n, 'sale waits', 'sales wait')} at this till. If it cannot send them, take them to another: nothing doubles.`,
    export: 'Export…',
    import: 'Import…',
    file: 'File',
    filePlaceholder: '/media/usb/turno-D03.ventas',
    passphrase: 'Passphrase',
    passphraseHint: 'The one that was typed for the export.',
    newPassphraseHint: '10 characters or more. Note it down: nobody opens the file without it.',
    exportHint: 'On a USB stick or in another folder.',
    importHint: 'The file that was exported at the other till.',
    exportAction: 'Export the unsent sales',
    exporting: 'Writing the file…',
    importAction: 'Import the sales',
    importing: 'Checking the file…',
    exported: (n: number, path: string) =>
      `${count(n, 'sale', 'sales')} in ${path}. They are still at this till as well.`,
    imported: (n: number, already: number, device: string, when: string) =>
      `File of till ${device}, ${when}: ${count(n, 'sale imported', 'sales imported')}` +
      (already > 0 ? `, ${already} ${already === 1 ? 'was' : 'were'} here already.` : '.'),
  },
  offline: {
    title: 'Work offline',
    lead: 'Sales are sent by themselves. You can stop that; nothing is lost.',
    paused: 'Sending is paused: sales are kept here until you resume it.',
  },
  backup: {
    title: 'Backup',
    lead: 'One is made each day.',
    last: 'Last backup',
    never: 'None yet',
    now: 'Copy now',
    copying: 'Copying…',
  },
  journal: {
    title: 'Journal',
    lead: 'Every sale is written here as well. Best on another medium; it is chosen when the program starts.',
  },
  about: {
    title: 'About this till',
    version: 'Turno',
    company: 'Company',
    device: 'Till',
    epoch: 'Letters on tickets',
    address: 'YUPY',
    dataFolder: 'Data',
  },
};
