// The exchange with the server: an answer is laid over the text, or replaces it only where no typed
// letter is lost by it.

/** @typedef {"lay" | "take" | "leave"} Verdict */

export class Exchange {
  constructor() {
    this.sent = 0; // revision of the last text that was sent
    this.answered = 0; // and of the last that was answered
    this.unsent = false; // something was typed since
  }

  /** Whether the server still has a text to answer. */
  get ahead() {
    return this.unsent || this.sent !== this.answered;
  }

  typed() {
    this.unsent = true;
  }

  /**
   * Number the text that is to be sent.
   * @param {boolean} changed whether the text is another one than the server knows
   * @returns {number | null} its revision; null where there is nothing to send
   */
  send(changed) {
    const due = this.unsent && (changed || this.sent !== this.answered);
    this.unsent = false;
    return due ? ++this.sent : null;
  }

  /**
   * Judge what the server says: `lay` its probabilities over the very same text, `take` its text,
   * or `leave` it as outdated. Something is `unsent` where the text is to be sent once more.
   * @param {{text: string, revision: number}} answer
   * @param {string} text that stands in the editor
   * @returns {Verdict}
   */
  hear(answer, text) {
    // a page that was left and entered again counts on from what the server knows
    if (answer.revision > this.sent) this.sent = answer.revision;
    // a server that has lost the session begins at 0, and never answers what was on its way
    if (answer.revision === 0 && this.answered > 0 && this.ahead) {
      this.answered = 0;
      this.unsent = true;
    }
    const outdated = answer.revision < this.answered && answer.revision > 0;
    if (answer.revision === this.sent) this.answered = this.sent;
    if (answer.text === text) return "lay";
    return this.ahead || outdated ? "leave" : "take";
  }
}
