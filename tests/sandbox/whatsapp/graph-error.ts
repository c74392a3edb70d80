/** An error in the format of Meta's Graph API. */
export class GraphError extends Error {
  readonly status: number;
  readonly code: number;
  readonly details: string;
  readonly type: string;

  constructor(status: number, code: number, message: string, details = message, type = 'OAuthException') {
    super(`(#${code}) ${message}`);
    this.status = status;
    this.code = code;
    this.details = details;
    this.type = type;
  }

  toJSON() {
    return {
      error: {
        message: this.message,
        type: this.type,
        code: this.code,
        error_data: { messaging_product: 'whatsapp', details: this.details },
        fbtrace_id: crypto.randomUUID().replaceAll('-', '').slice(0, 23),
      },
    };
  }
}
