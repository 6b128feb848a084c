#!/usr/bin/env node
import { createLoader } from './loader.ts'

createLoader(`${import.meta.dirname}/program`).load('main.cjs')
