/** The people of the in-memory till and their PINs. */
import type { Approval } from '../../bindings/Approval';
import type { Person } from '../../bindings/Person';
import type { PracticePin } from '../../bindings/PracticePin';
import type { Role } from '../../bindings/Role';
import { refusal } from './sales';

export const CASHIER: Person = { person_id: 'p-caja', name: 'Caja', role: 'cashier' };
export const MANAGER: Person = { person_id: 'p-encargado', name: 'Encargado', role: 'manager' };
export const PINS: Record<string, string> = { [CASHIER.person_id]: '314159', [MANAGER.person_id]: '271828' };

export class FakePeople {
  #people: Person[] = [CASHIER, MANAGER];
  #pins: Record<string, string> = { ...PINS };

  get all(): Person[] {
    return this.#people;
  }
  get managers(): Person[] {
    return this.#people.filter(({ role }) => role === 'manager');
  }
  get practicePins(): PracticePin[] {
    return this.#people.map(({ name, role, person_id }) => ({
      name,
      role,
      pin: this.#pins[person_id] ?? '',
    }));
  }

  clear(): void {
    this.#people = [];
  }

  /** The first of a new till. */
  first(name: string, pin: string): void {
    checkPin(pin);
    const person: Person = { person_id: 'p-1', name: name.trim(), role: 'manager' };
    this.#people = [person];
    this.#pins = { [person.person_id]: pin };
  }

  add(person: { person_id: string; name: string; role: Role }, pin: string, approval: Approval): void {
    checkPin(pin);
    this.approver(approval);
    if (!this.#people.some(({ person_id }) => person_id === person.person_id))
      this.#people = [...this.#people, person];
    this.#pins[person.person_id] = pin;
  }

  resetPin(personId: string, pin: string, approval: Approval): void {
    checkPin(pin);
    this.approver(approval);
    this.#pins[personId] = pin;
  }

  retire(personId: string, approval: Approval): void {
    this.approver(approval);
    const rest = this.#people.filter(({ person_id }) => person_id !== personId);
    if (!rest.some(({ role }) => role === 'manager')) throw refusal('last_manager');
    this.#people = rest;
  }

  changePin(personId: string, pin: string, newPin: string): void {
    checkPin(newPin);
    this.verify(personId, pin);
    this.#pins[personId] = newPin;
  }

  verify(personId: string, pin: string): Person {
    const person = this.#people.find(({ person_id }) => person_id === personId);
    if (!person || this.#pins[personId] !== pin) throw refusal('pin_wrong');
    return person;
  }

  /** A manager's PIN for one act, if it was given. */
  approver(approval: Approval | null): Person | null {
    if (!approval) return null;
    const manager = this.verify(approval.manager_id, approval.pin);
    if (manager.role !== 'manager') throw refusal('manager_required');
    return manager;
  }

  /** A manager's PIN and reason, both of which this act needs. */
  approve({ manager_id, pin, reason }: { manager_id: string; pin: string; reason: string }): void {
    const manager = this.#people.find(({ person_id }) => person_id === manager_id);
    if (manager?.role !== 'manager') throw refusal('manager_required');
    this.verify(manager_id, pin);
    if (reason.trim() === '') throw refusal('reason_required');
  }
}

function checkPin(pin: string): void {
  if (!/^\d{6,}$/.test(pin) || /^(\d)\1+$/.test(pin) || '01234567890'.includes(pin))
    throw refusal('pin_weak');
}
