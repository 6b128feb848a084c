interface DrawnPanel {
  readonly number: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** What a drawing holds: its elements and attributes, its size, and where each panel is. */
export interface Drawing {
  readonly names: readonly string[]
  readonly attributes: readonly string[]
  readonly width: number
  readonly height: number
  readonly panels: readonly DrawnPanel[]
}

/** Reads markup strictly: throws when a tag has another form than `<name a="b" …>`, or is not closed. */
export function readDrawing(markup: string): Drawing {
  const open: string[] = []
  const tags = [...markup.matchAll(/<[^>]*>/g)].map(([tag]) => tag)
  const read = tags.flatMap((tag) => {
    const [, slash, name = '', inside = '', ending] =
      /^<(\/?)([a-z]+)((?: [\w-]+="[^"<>]*")*)(\/?)>$/i.exec(tag) ?? fail(tag)
    if (slash === '/') {
      if (open.pop() !== name) fail(tag)
      return []
    }
    if (ending !== '/') open.push(name)
    const pairs = [...inside.matchAll(/ ([\w-]+)="([^"]*)"/g)]
    return [{ name, attributes: new Map(pairs.map(([, key = '', value = '']) => [key, value])) }]
  })
  if (open.length > 0 || /[<>]/.test(markup.replace(/<[^>]*>/g, ''))) fail(markup)
  const box = read.find(({ attributes }) => attributes.has('viewBox'))?.attributes.get('viewBox')
  const [, , width = 0, height = 0] = (box ?? '').split(' ').map(Number)
  const panels = read.flatMap(({ attributes }, nth) => {
    const number = attributes.get('data-panel')
    if (number === undefined) return []
    // The panel's own title stands between it and the element that gives its place.
    const place = read[nth + 2]?.attributes
    const get = (key: string) => Number(place?.get(key))
    const [x, y] = [get('x'), get('y')]
    return [{ number: Number(number), x, y, width: get('width'), height: get('height') }]
  })
  const attributes = new Set(read.flatMap((one) => [...one.attributes.keys()]))
  return {
    names: [...new Set(read.map(({ name }) => name))],
    attributes: [...attributes],
    ...{ width, height, panels },
  }
}

function fail(markup: string): never {
  throw new Error(`this is not well-formed: ${markup.slice(0, 200)}`)
}
