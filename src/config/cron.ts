/** Whether a cron expression is valid and ever due. */
type CronState = 'good' | 'invalid' | 'never due'

/** Checks a cron expression whose smallest unit is the minute. Loads node-cron when called. */
export async function judgeCron(expression: string): Promise<CronState> {
  const { validateDetailed } = await import('node-cron')
  const { valid, fields } = validateDetailed(expression)
  if (!valid) {
    // A day that the month does not have, such as 31 February, is valid in any month.
    const [minute, hour, day, month, ...rest] = expression.trim().split(/\s+/)
    const anyMonth = [minute, hour, day, '*', ...rest].join(' ')
    const isMonthValid = validateDetailed(`0 0 * ${month} *`).valid
    const isNever = rest.length === 1 && isMonthValid && validateDetailed(anyMonth).valid
    return isNever ? 'never due' : 'invalid'
  }
  if (fields?.second.join() !== '0') return 'invalid'
  const { createCalendar } = await import('./calendar.ts')
  const calendar = createCalendar({ cron: expression, timeZone: 'UTC' })
  return calendar.next(new Date(0)) === undefined ? 'never due' : 'good'
}

/** Whether day of month and day of week are both set. cron itself then requires only one to match. */
export function hasBothDays(expression: string): boolean {
  const [, , day = '*', , weekday = '*'] = expression.trim().split(/\s+/)
  return !/^[*?]/.test(day) && !/^[*?]/.test(weekday)
}
