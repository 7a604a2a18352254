import { Canvas, chooser, mix } from './canvas.ts'
import { height, width } from './scenes.ts'

function room(seed: number): Canvas {
  const canvas = new Canvas(width, height)
  const choose = chooser(seed)
  const wall = choose.of(['#efe6d8', '#dfe6e4', '#e8dcd2', '#f2efe9'])
  const cloth = choose.of(['#3f6b73', '#a55a43', '#77805b', '#8a6d8f', '#c09a54'])
  const wood = choose.of(['#8a5f3c', '#a77b52', '#5f4531'])
  canvas.box(0, 0, width, 320, wall)
  canvas.box(0, 320, width, 120, mix(wood, '#f4e6d0', 0.55))
  for (let x = 0; x < width; x += 80) canvas.box(x, 320, 2, 120, mix(wood, '#f4e6d0', 0.4))
  canvas.box(0, 314, width, 6, mix(wall, '#ffffff', 0.6))
  canvas.box(60, 60, 190, 150, '#ffffff')
  for (let band = 0; band < 6; band++) {
    canvas.box(70, 70 + band * 21.7, 170, 22, mix('#7fc0e2', '#e2f2f6', band / 5))
  }
  canvas.box(152, 70, 6, 130, '#ffffff')
  canvas.box(40, 46, 30, 186, mix(cloth, '#ffffff', 0.45))
  canvas.box(240, 46, 30, 186, mix(cloth, '#ffffff', 0.45))
  canvas.box(370, 80, 110, 80, wood)
  canvas.box(378, 88, 94, 64, mix(cloth, '#f7e7c6', 0.6))
  canvas.circle(425, 120, 20, mix(cloth, '#ffffff', 0.2))
  if (choose.upTo(1)) { // a sitting room
    canvas.box(300, 240, 270, 60, cloth)
    canvas.box(290, 286, 290, 50, mix(cloth, '#000000', 0.12))
    canvas.box(276, 262, 30, 76, mix(cloth, '#000000', 0.2))
    canvas.box(564, 262, 30, 76, mix(cloth, '#000000', 0.2))
    canvas.box(330, 254, 60, 40, mix(cloth, '#ffffff', 0.4))
    canvas.box(90, 350, 170, 14, wood)
    canvas.box(104, 364, 10, 40, wood)
    canvas.box(236, 364, 10, 40, wood)
  } else { // a bedroom
    canvas.box(290, 190, 280, 110, wood)
    canvas.box(300, 270, 260, 100, '#ffffff')
    canvas.box(300, 300, 260, 80, cloth)
    canvas.box(320, 246, 90, 36, '#f7f3ec')
    canvas.box(450, 246, 90, 36, '#f7f3ec')
    canvas.box(150, 280, 70, 90, wood)
    canvas.circle(185, 250, 22, '#ffe9b0')
  }
  return canvas
}

function plan(seed: number): Canvas {
  const canvas = new Canvas(width, height)
  const choose = chooser(seed)
  canvas.box(0, 0, width, height, '#fbfaf5')
  for (let x = 0; x < width; x += 20) canvas.box(x, 0, 1, height, '#e9ece6')
  for (let y = 0; y < height; y += 20) canvas.box(0, y, width, 1, '#e9ece6')
  const ink = '#2f4858'
  const rooms = ['#dfeaf0', '#f3e6d3', '#e4efdd', '#f0dfe0', '#ece6f2']
  const [middle, low] = [choose.between(240, 400), choose.between(180, 270)]
  const boxes = [[80, 60, middle, low], [middle, 60, 560, low], [80, low, middle - 60, 380], [
    middle - 60,
    low,
    440,
    380,
  ], [440, low, 560, 380]] as const
  boxes.forEach(([x1, y1, x2, y2], i) => {
    canvas.box(x1, y1, x2 - x1, y2 - y1, ink)
    canvas.box(x1 + 5, y1 + 5, x2 - x1 - 10, y2 - y1 - 10, rooms[i]!)
    canvas.box(x1 + 24, y2 - 6, 40, 12, '#fbfaf5') // a door
  })
  return canvas
}

export const interior = (seed: number): Buffer => (seed % 4 === 3 ? plan(seed) : room(seed)).png()

export function portrait(seed: number): Buffer {
  const canvas = new Canvas(160, 160)
  const choose = chooser(seed)
  const ground = choose.of(['#2f6f63', '#7a4b63', '#a8662f', '#39588a', '#5d6b3a', '#8a3f3f'])
  canvas.box(0, 0, 160, 160, ground)
  canvas.circle(80, 178, 64, mix(ground, '#ffffff', 0.75))
  canvas.circle(80, 66, 32, mix(ground, '#ffffff', 0.75))
  return canvas.png()
}

export function logo(seed: number): Buffer {
  const canvas = new Canvas(160, 160)
  const choose = chooser(seed)
  const ink = choose.of(['#1f4e79', '#8a5a14', '#1d6b5b', '#7b2d3b', '#3d3a66'])
  canvas.box(0, 0, 160, 160, '#ffffff')
  if (seed % 3 === 0) {
    canvas.box(34, 62, 40, 74, ink)
    canvas.box(80, 30, 44, 106, mix(ink, '#e8b64c', 0.45))
    canvas.box(20, 136, 120, 8, ink)
  } else if (seed % 3 === 1) {
    canvas.shape([[80, 24], [142, 78], [18, 78]], ink)
    canvas.box(36, 84, 88, 52, mix(ink, '#e8b64c', 0.45))
    canvas.box(68, 102, 24, 34, '#ffffff')
  } else {
    canvas.circle(80, 80, 60, ink)
    canvas.circle(80, 80, 44, '#ffffff')
    canvas.shape([[80, 42], [108, 104], [52, 104]], mix(ink, '#e8b64c', 0.45))
  }
  return canvas.png()
}

/** Draws a document with a seal and without legible text. */
export function paper(seed: number): Buffer {
  const canvas = new Canvas(420, 594)
  const choose = chooser(seed)
  canvas.box(0, 0, 420, 594, '#fdfcf8')
  canvas.box(20, 20, 380, 554, '#b9a15a')
  canvas.box(24, 24, 372, 546, '#fdfcf8')
  canvas.box(120, 60, 180, 20, '#31493c')
  for (let line = 0; line < 14; line++) {
    const wide = choose.between(180, 320)
    canvas.box(370 - wide, 130 + line * 24, wide, 8, '#9aa39b')
  }
  canvas.circle(110, 500, 42, '#a83a32')
  canvas.circle(110, 500, 34, '#fdfcf8')
  canvas.circle(110, 500, 20, '#a83a32')
  return canvas.png()
}
