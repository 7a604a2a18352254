import { Canvas, type Choose, chooser, mix } from './canvas.ts'

export const width = 640
export const height = 440
const horizon = 330

const skies = [
  { top: '#4f9fd8', low: '#d9eefa', sun: '#fff3c4', shade: 0.12 },
  { top: '#6fb2dc', low: '#fbe9c9', sun: '#fffbe8', shade: 0.15 },
  { top: '#3b4a7a', low: '#f6a46b', sun: '#ffd9a0', shade: 0.3 },
  { top: '#7fc4d9', low: '#f2f4e8', sun: '#ffffff', shade: 0.1 },
]
const walls = ['#f3e3c7', '#e9d3ad', '#f7f1e6', '#d9c3a5', '#e6d8d0', '#cfd5d8', '#f0d9c0']
const glass = ['#5b8aa6', '#48708c', '#7aa7bd']
const greens = ['#3f7d4e', '#4f9157', '#6aa15b']

type Scene = { canvas: Canvas; choose: Choose; wall: string; dark: string; window: string }

function outside(seed: number, ground: string): Scene {
  const canvas = new Canvas(width, height)
  const choose = chooser(seed)
  const sky = choose.of(skies)
  for (let band = 0; band < 12; band++) {
    canvas.box(0, (band * horizon) / 12, width, horizon / 12 + 1, mix(sky.top, sky.low, band / 11))
  }
  canvas.circle(choose.between(60, width - 60), choose.between(50, 130), 30, sky.sun)
  canvas.box(0, horizon, width, height - horizon, ground)
  const wall = choose.of(walls)
  return { canvas, choose, wall, dark: mix(wall, '#3a2f2a', sky.shade), window: choose.of(glass) }
}

function palm({ canvas, choose }: Scene, x: number, base: number, tall: number) {
  canvas.shape(
    [[x - 5, base], [x + 5, base], [x + 3, base - tall], [x - 3, base - tall]],
    '#8a6642',
  )
  const green = choose.of(greens)
  for (const [dx, dy] of [[-46, 14], [-38, -14], [-14, -34], [14, -34], [38, -14], [46, 14]]) {
    canvas.shape([
      [x, base - tall - 6],
      [x + dx! / 2, base - tall + dy! - 10],
      [x + dx!, base - tall + dy!],
      [x, base - tall + 6],
    ], green)
  }
}

function windows(scene: Scene, x: number, y: number, count: number, wide: number, tall: number) {
  for (let i = 0; i < count; i++) {
    const left = x + i * wide * 1.8
    scene.canvas.box(left - 3, y - 3, wide + 6, tall + 6, scene.dark)
    scene.canvas.box(left, y, wide, tall, scene.window)
    scene.canvas.box(left, y, wide, tall / 3, mix(scene.window, '#ffffff', 0.25))
  }
}

function house(scene: Scene, left = 150, base = horizon + 20) {
  const { canvas, choose, wall, dark } = scene
  const floors = choose.between(2, 3)
  const wide = choose.between(300, 360)
  for (let floor = 0; floor < floors; floor++) {
    const inset = floor * choose.between(0, 26)
    const top = base - (floor + 1) * 82
    canvas.box(
      left + inset,
      top,
      wide - 2 * inset,
      82,
      floor % 2 ? mix(wall, '#ffffff', 0.3) : wall,
    )
    canvas.box(left + inset - 8, top - 8, wide - 2 * inset + 16, 10, dark)
    const room = Math.floor((wide - 2 * inset - 40) / 61)
    windows(scene, left + inset + 28, top + 22, floor ? room : 2, 34, 38)
  }
  canvas.box(left + wide - 108, base - 66, 56, 66, '#6b4a32')
  canvas.box(left + wide - 82, base - 66, 3, 66, '#53371f')
  canvas.box(40, base - 22, left - 40, 30, mix(wall, '#ffffff', 0.15))
  canvas.box(left + wide, base - 22, width - 40 - left - wide, 30, mix(wall, '#ffffff', 0.15))
  palm(scene, 92, base + 6, choose.between(90, 140))
  if (choose.upTo(1)) palm(scene, width - 70, base + 10, choose.between(70, 120))
}

function tower(scene: Scene) {
  const { canvas, choose, wall, dark, window } = scene
  for (let i = 0; i < 6; i++) {
    const tall = choose.between(70, 190)
    canvas.box(
      i * 110 - 10,
      horizon - tall,
      choose.between(60, 96),
      tall,
      mix(wall, '#9fb4c4', 0.6),
    )
  }
  const floors = choose.between(7, 11)
  const columns = choose.between(4, 6)
  const wide = columns * 44 + 20
  const left = choose.between(140, width - 160 - wide)
  const top = horizon + 24 - floors * 27 - 50
  canvas.box(left, top, wide, horizon + 24 - top, wall)
  canvas.box(left + wide, top + 16, 26, horizon + 8 - top, dark)
  canvas.box(left - 6, top - 8, wide + 12, 12, dark)
  for (let floor = 0; floor < floors; floor++) {
    for (let column = 0; column < columns; column++) {
      const lit = choose.upTo(9) === 0
      canvas.box(left + 16 + column * 44, top + 16 + floor * 27, 28, 17, lit ? '#ffdf8e' : window)
      if (column % 2) canvas.box(left + 12 + column * 44, top + 31 + floor * 27, 36, 4, dark)
    }
  }
  canvas.box(left + wide / 2 - 26, horizon - 18, 52, 42, '#3d4a55')
  canvas.box(0, horizon + 24, width, 20, '#8d8a86')
  canvas.box(0, horizon + 44, width, 70, '#5d5c5b')
  for (let x = 10; x < width; x += 90) canvas.box(x, horizon + 76, 46, 5, '#d8d4cb')
  palm(scene, left - 60, horizon + 28, 80)
}

function chalet(scene: Scene) {
  house(scene, 170, horizon - 10)
  for (let wave = 0; wave < 6; wave++) {
    scene.canvas.box(0, horizon + 30 + wave * 14, width, 14, mix('#2f86a6', '#8fd0d8', wave / 5))
  }
  scene.canvas.box(0, horizon + 106, width, 8, '#f6ead0')
}

function plot({ canvas, choose }: Scene) {
  for (let i = 0; i < 4; i++) {
    const tall = choose.between(20, 60)
    canvas.box(i * 180 - 30, horizon - tall, 130, tall, '#d1c8ba')
  }
  canvas.shape([[90, 420], [560, 420], [470, 346], [170, 346]], '#d2b480')
  for (const [x, y] of [[90, 420], [560, 420], [470, 346], [170, 346]]) {
    canvas.box(x! - 4, y! - 34, 8, 36, '#c0563b')
    canvas.box(x! - 4, y! - 22, 8, 8, '#ffffff')
  }
  const left = choose.between(220, 330)
  canvas.box(left + 44, horizon - 60, 8, 110, '#7b6a55')
  canvas.box(left, horizon - 96, 96, 56, '#2f6f63')
  canvas.box(left + 10, horizon - 84, 76, 6, '#e8f1ec')
  canvas.box(left + 22, horizon - 68, 52, 6, '#e8f1ec')
}

function farm(scene: Scene) {
  const { canvas, choose } = scene
  for (let row = 0; row < 6; row++) {
    canvas.box(0, horizon + row * 19, width, 10, mix('#6d9a4c', '#4b7a3c', row / 5))
  }
  canvas.box(240, horizon - 66, 190, 76, scene.wall)
  canvas.shape([[224, horizon - 66], [446, horizon - 66], [410, horizon - 104], [
    260,
    horizon - 104,
  ]], scene.dark)
  windows(scene, 262, horizon - 48, 3, 28, 30)
  for (let i = 0; i < 6; i++) {
    palm(
      scene,
      choose.between(20, 210) + (i % 2) * 400,
      horizon + choose.between(4, 70),
      choose.between(70, 120),
    )
  }
}

function camp({ canvas, choose }: Scene) {
  for (let dune = 0; dune < 3; dune++) {
    const x = choose.between(-80, 500)
    canvas.shape(
      [[x - 200, horizon + 2], [x, horizon - 50], [x + 220, horizon + 2]],
      mix('#dcb981', '#c99d63', dune / 2),
    )
  }
  for (let tent = 0; tent < 3; tent++) {
    const x = 120 + tent * 190
    const cloth = choose.of(['#f4ecdc', '#7d2f2b', '#e6d5b0', '#4c4138'])
    canvas.shape([[x - 90, horizon + 50], [x - 60, horizon - 40], [x, horizon - 76], [
      x + 60,
      horizon - 40,
    ], [x + 90, horizon + 50]], cloth)
    canvas.shape(
      [[x - 26, horizon + 50], [x, horizon - 20], [x + 26, horizon + 50]],
      mix(cloth, '#1e1712', 0.6),
    )
  }
  canvas.circle(330, horizon + 84, 10, '#e2762f')
}

function shop(scene: Scene) {
  const { canvas, choose, wall, dark, window } = scene
  canvas.box(40, 120, 560, horizon - 96, wall)
  windows(scene, 70, 140, 6, 48, 42)
  const cloth = choose.of(['#b5443a', '#2f6f63', '#2d5d86', '#b9852c'])
  for (let door = 0; door < 3; door++) {
    const left = 62 + door * 180
    canvas.box(left, 240, 156, horizon - 216, mix(window, '#dff0f5', 0.5))
    canvas.box(left + 102, 252, 40, horizon - 228, window)
    for (let stripe = 0; stripe < 8; stripe++) {
      canvas.box(left - 8 + stripe * 21.5, 214, 21.5, 36, stripe % 2 ? '#fbf7ee' : cloth)
    }
  }
  canvas.box(40, 196, 560, 14, dark)
  canvas.box(0, horizon + 24, width, 90, '#8d8a86')
}

function warehouse({ canvas, choose, wall, dark }: Scene) {
  const metal = choose.of(['#a9b4ba', '#c2b9a6', '#8fa3ad'])
  for (let roof = 0; roof < 4; roof++) {
    const left = 60 + roof * 130
    canvas.shape(
      [[left, 190], [left + 130, 150], [left + 130, 192], [left, 192]],
      mix(metal, '#39434a', 0.35),
    )
  }
  canvas.box(60, 190, 520, horizon - 166, metal)
  for (let x = 72; x < 580; x += 16) {
    canvas.box(x, 194, 3, horizon - 172, mix(metal, '#39434a', 0.15))
  }
  for (let gate = 0; gate < 3; gate++) {
    canvas.box(96 + gate * 166, 244, 112, horizon - 220, wall)
    for (let bar = 0; bar < 7; bar++) canvas.box(96 + gate * 166, 252 + bar * 15, 112, 3, dark)
  }
}

const grounds = { sand: '#d9bd8b', paved: '#cdbfa8', sea: '#efdcb2', soil: '#b79a6a' }
const scenes: [kinds: string, ground: string, draw: (scene: Scene) => void][] = [
  ['house villa gov_house floor annex basement', grounds.paved, (scene) => house(scene)],
  [
    'apartment studio building investment_building office commercial_complex parking',
    grounds.paved,
    tower,
  ],
  ['residential_plot land', grounds.sand, plot],
  ['chalet', grounds.sea, chalet],
  ['farm istiraha stable', grounds.soil, farm],
  ['camp', grounds.sand, camp],
  ['shop showroom', grounds.paved, shop],
  ['warehouse industrial_plot', grounds.paved, warehouse],
]

export function exterior(kind: string, seed: number): Buffer {
  const [, ground, draw] = scenes.find(([kinds]) => kinds.split(' ').includes(kind)) ?? scenes[0]!
  const scene = outside(seed, ground)
  draw(scene)
  return scene.canvas.png()
}
