import { call, randomAddress } from './api.ts';

export const requestOtp = (phone: string, address = randomAddress()) =>
  call('POST', '/api/auth/request-otp', { body: { phone }, address });

export const verifyOtp = (phone: string, otp: string, address = randomAddress()) =>
  call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address });

/** A wrong code. */
export const otherThan = (code: string) => (code === '000000' ? '000001' : '000000');
