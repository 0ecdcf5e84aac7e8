// A choice that the reader makes in the picture and the host in the address.

/**
 * What was chosen last counts: by the host, unless it has the reader's click still to answer.
 * @template T
 */
export class SharedChoice {
  /** @param {T} value */
  constructor(value) {
    this.value = value;
    /** @type {T | undefined} */
    this.heard = undefined; // from the host; undefined where it takes no part
    this.awaited = false;
  }

  /** @param {T} value of the reader */
  choose(value) {
    this.value = value;
    this.awaited = true;
  }

  /** @param {T | undefined} value of the host */
  follow(value) {
    if (value === undefined) return;
    if (value === this.value) this.awaited = false;
    else if (!this.awaited && value !== this.heard) this.value = value;
    this.heard = value;
  }
}
