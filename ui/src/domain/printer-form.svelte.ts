/**
 * The printer's settings while somebody changes them. Invariant: what is typed is kept by nobody until *Guardar*;
 * the preview shows what is typed.
 */
import type { PrinterDevice } from '../bindings/PrinterDevice';
import type { PrinterSettings } from '../bindings/PrinterSettings';
import type { TicketPreview } from '../bindings/TicketPreview';
import type { Host } from '../host/host';
import { Action } from './action.svelte';
import { Live } from './live.svelte';

export type DeviceKind = 'none' | PrinterDevice['kind'];
export const DEVICE_KINDS: readonly DeviceKind[] = ['none', 'network', 'device_file', 'file'];

export class PrinterForm {
  readonly saving = new Action();
  readonly preview: Live<TicketPreview>;
  readonly #host: Host;
  #kept = $state.raw<PrinterSettings | null>(null);
  #typed = $state.raw<PrinterSettings | null>(null);
  #kind = $state<DeviceKind>('none');
  #address = $state('');
  #isSaved = $state(false);

  constructor(host: Host) {
    this.#host = host;
    this.preview = new Live(async () => {
      const settings = this.settings ?? (await host.printerSettings());
      // An address that is not whole yet is no reason to show nothing.
      return host.previewTestPage({ settings: { ...settings, device: null } });
    });
  }

  /** What is on the screen; null until it was read. */
  get settings(): PrinterSettings | null {
    return this.#typed && { ...this.#typed, device: this.#device() };
  }
  get kind(): DeviceKind {
    return this.#kind;
  }
  get address(): string {
    return this.#address;
  }
  /** Kept a moment ago, and nothing was changed since. */
  get isSaved(): boolean {
    return this.#isSaved;
  }
  /** Whether something differs from what is kept. */
  get isChanged(): boolean {
    return JSON.stringify(this.settings) !== JSON.stringify(this.#kept);
  }

  async load(): Promise<void> {
    await this.saving.run(async () => {
      this.#take(await this.#host.printerSettings());
    });
    await this.preview.refresh();
  }

  setKind(kind: DeviceKind): void {
    this.#kind = kind;
    this.#isSaved = false;
  }

  setAddress(address: string): void {
    this.#address = address;
    this.#isSaved = false;
  }

  set(change: Partial<PrinterSettings>): void {
    if (!this.#typed) return;
    this.#typed = { ...this.#typed, ...change };
    this.#isSaved = false;
    void this.preview.refresh();
  }

  async save(): Promise<void> {
    const { settings } = this;
    if (!settings) return;
    this.#isSaved = await this.saving.run(async () => {
      this.#take(await this.#host.setPrinterSettings({ settings }));
    });
  }

  #take(kept: PrinterSettings): void {
    this.#kept = kept;
    this.#typed = kept;
    this.#kind = kept.device?.kind ?? 'none';
    this.#address = kept.device === null ? '' : addressOf(kept.device);
  }

  #device(): PrinterDevice | null {
    switch (this.#kind) {
      case 'none':
        return null;
      case 'network':
        return { kind: 'network', address: this.#address };
      case 'device_file':
      case 'file':
        return { kind: this.#kind, path: this.#address };
    }
  }
}

function addressOf(device: PrinterDevice): string {
  return device.kind === 'network' ? device.address : device.path;
}
