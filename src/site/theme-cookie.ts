import { HostCookie } from './host-cookie.ts'

/** The cookie with the theme that the user has chosen in this browser. Without it, pages have the theme of the device. */
export function themeCookie(isTls: boolean): HostCookie {
  return new HostCookie('theme', { isTls, values: /^(light|dark)$/ })
}
