/** The settings of the in-memory till. */
import type { Settings } from '../../bindings/Settings';

export const settingsOf = (unsentCount: number, lastBackupAt: string | null): Settings => ({
  unsent_count: unsentCount,
  suggested_file: '/media/caja/USB/turno-D03-20261130T150000Z.ventas',
  suggested_table: '/media/caja/USB/turno-D03-20261130T150000Z.csv',
  backup_folder: '/home/caja/.local/share/turno/live/backups',
  last_backup_at: lastBackupAt,
  journal_folder: '/media/caja/TARJETA/journal',
  about: {
    version: '0.1.0',
    device_id: 'D03',
    epoch: 'K7M',
    company_name: 'Transportes del Sur',
    address: 'https://yupy.example',
    data_folder: '/home/caja/.local/share/turno/live',
  },
});
