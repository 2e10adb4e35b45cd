// Reads the input that make.py wrote and writes what it reads back: JSON with a shape and plain numbers.
const fs = require('fs');

function readInput(tf, file) {
  const { shape, values } = JSON.parse(fs.readFileSync(file));
  return tf.tensor(values, shape, 'float32');
}

async function writeOutputs(file, names, tensors) {
  const outputs = {};
  for (let index = 0; index < names.length; index += 1) {
    outputs[names[index]] = { shape: tensors[index].shape, values: Array.from(await tensors[index].data()) };
  }
  fs.writeFileSync(file, JSON.stringify(outputs));
}

module.exports = { readInput, writeOutputs };
