/** The default password of test users. It must not appear in a response or a log. */
export const password = 'seven wise canaries 1815'
